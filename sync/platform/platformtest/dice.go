package platformtest

import (
	"math"
	"math/bits"
	"math/rand/v2"
)

// Each aspect of the world draws from a stream of its own, so that one can be derived without the others.
const (
	streamHistory uint64 = iota + 1
	streamDay
	streamLife
	streamShop
	streamItem
	streamShelf
	streamSeller
	streamCompany
	streamSize
	streamParties
	streamSite
	streamCustomer
	streamLines
	streamDiscount
	streamSurcharge
	streamPayment
	streamPaper
	streamNotes
	streamOrder
	streamPages
	streamDrift
	streamFault
	streamChurn
	streamNewcomer
)

// dice is a cheap random source, fully determined by the keys it was thrown with.
type dice struct{ src rand.PCG }

func throw(keys ...uint64) dice {
	h := uint64(0x9e3779b97f4a7c15)
	for _, k := range keys {
		h = mix(h ^ mix(k))
	}
	var d dice
	d.src.Seed(h, mix(h+1))
	return d
}

// mix is the finaliser of SplitMix64: neighbouring keys must not give related streams.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// below returns a number in [0, n).
func (d *dice) below(n int) int {
	hi, _ := bits.Mul64(d.src.Uint64(), uint64(n))
	return int(hi)
}

// between returns a number in [low, high], both included.
func (d *dice) between(low, high int) int { return low + d.below(high-low+1) }

// float returns a number in [0, 1).
func (d *dice) float() float64 { return float64(d.src.Uint64()>>11) / (1 << 53) }

func (d *dice) chance(p float64) bool { return d.float() < p }

// exp returns an exponentially distributed number with the given mean.
func (d *dice) exp(mean float64) float64 { return -mean * math.Log(1-d.float()) }

// poisson returns how many events fall into a span in which mean of them are expected.
func (d *dice) poisson(mean float64) int {
	if mean > 50 { // close enough to a normal distribution, and math.Exp(-mean) would vanish for large means
		gauss := math.Sqrt(-2*math.Log(1-d.float())) * math.Cos(2*math.Pi*d.float())
		return int(max(0, math.Round(mean+math.Sqrt(mean)*gauss)))
	}
	n, limit := 0, math.Exp(-mean)
	for p := d.float(); p > limit; p *= d.float() {
		n++
	}
	return n
}

// weighted returns an index of weights, each as likely as its weight.
func (d *dice) weighted(weights []int) int {
	total := 0
	for _, w := range weights {
		total += w
	}
	x := d.below(total)
	for i, w := range weights {
		if x -= w; x < 0 {
			return i
		}
	}
	return len(weights) - 1
}

func pick[T any](d *dice, from []T) T { return from[d.below(len(from))] }

// digits appends n random decimal digits.
func (d *dice) digits(b []byte, n int) []byte {
	for range n {
		b = append(b, byte('0'+d.below(10)))
	}
	return b
}

// hex appends n random lower-case hexadecimal digits.
func (d *dice) hex(b []byte, n int) []byte {
	for range n {
		b = append(b, "0123456789abcdef"[d.below(16)])
	}
	return b
}
