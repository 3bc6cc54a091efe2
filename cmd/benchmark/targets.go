package main

import (
	"fmt"
	"io"
)

// verdict is where a target stands.
type verdict struct {
	size   int
	target string
	figure string
	met    bool
}

func (b *bench) decide(size int, target, figure string, met bool) {
	b.verdicts = append(b.verdicts, verdict{size, target, figure, met})
}

// printVerdicts prints where each target stands.
func (b *bench) printVerdicts(out io.Writer) {
	fmt.Fprintf(out, "\n%9s  %-68s %-7s %s\n", "records", "target", "", "measured")
	for _, v := range b.verdicts {
		word := "missed"
		if v.met {
			word = "met"
		}
		fmt.Fprintf(out, "%9d  %-68s %-7s %s\n", v.size, v.target, word, v.figure)
	}
}

// part names what was measured in each round.
type part struct {
	contender string
	step      step
}

// judge decides, at one size, what is a matter of the contenders' outcomes.
func (b *bench) judge(size int) {
	load, usual := part{ours, firstLoad}, part{ours, resyncUsual}
	b.judgeSpeed(size, "first load at least 2 times as fast as the hand-written program", 2, load, part{byHand, firstLoad})
	b.judgeSpeed(size, "first load at least as fast as the same pipeline on cgo", 1, load, part{pipeline, firstLoad})
	b.judgeSpeed(size, "re-sync, 1 % changed, at least 8 times as fast as a first load", 8, usual, load)
	b.judgeSpeed(size, "re-sync, 1 % changed, at least 12 times as fast as the hand-written", 12, usual, part{byHand, resyncUsual})
	b.judgeMemory(size)
	b.judgeMarts(size)
	b.judgeGrowth(size)
}

// judgeSpeed compares records per second; what CPU time alone would say stands beside it. A part that was not measured is not judged.
func (b *bench) judgeSpeed(size int, target string, bound float64, fast, slow part) {
	wall, ok := b.ratio(size, fast, slow, rate)
	if !ok {
		return
	}
	cpu, _ := b.ratio(size, slow, fast, cpuPerRecord)
	b.decide(size, target, fmt.Sprintf("%.2f times (in CPU time %.2f)", wall, cpu), wall >= bound)
}

// ratio is the median over the rounds of what two outcomes of the same round say of each other. ok is false when one was not measured.
func (b *bench) ratio(size int, over, under part, figure func(outcome) float64) (r float64, ok bool) {
	above, below := b.outcomes[measured{size, over.contender, over.step.name}], b.outcomes[measured{size, under.contender, under.step.name}]
	var all []float64
	for i := range min(len(above), len(below)) {
		all = append(all, figure(above[i])/figure(below[i]))
	}
	if len(all) == 0 {
		return 0, false
	}
	return medianOf(all), true
}

// judgeMemory is about the greatest peak of all steps.
func (b *bench) judgeMemory(size int) {
	peak := int64(0)
	us, _ := findContender(ours)
	for _, s := range us.steps() {
		for _, o := range b.outcomes[measured{size, ours, s.name}] {
			peak = max(peak, o.PeakRSS)
		}
	}
	b.decide(size, "RSS under 128 MiB", mebibytes(peak), peak < 128<<20)
}

// judgeMarts compares what the marts of a usual re-sync take with what the rest of it takes.
func (b *bench) judgeMarts(size int) {
	var walls, cpus []float64
	for _, o := range b.outcomes[measured{size, ours, resyncUsual.name}] {
		walls = append(walls, o.Marts.Wall.Seconds()/o.Load.Wall.Seconds())
		cpus = append(cpus, o.Marts.CPU.Seconds()/o.Load.CPU.Seconds())
	}
	cpu := medianOf(cpus)
	b.decide(size, "marts after a 1 % change take twice the CPU time of the sync at most",
		fmt.Sprintf("%.2f times (in wall time %.2f)", cpu, medianOf(walls)), cpu <= 2)
}

// judgeGrowth compares the CPU time of a record with that at the least size.
func (b *bench) judgeGrowth(size int) {
	if size == b.sizes[0] {
		return
	}
	cost := func(size int) float64 { return cpuPerRecord(median(b.outcomes[measured{size, ours, firstLoad.name}])) }
	r := cost(size) / cost(b.sizes[0])
	b.decide(size, fmt.Sprintf("CPU per record within 1.5 times that at %d", b.sizes[0]), fmt.Sprintf("%.2f times", r), r <= 1.5)
}
