package platformtest

import "fmt"

// Bad records: see DriftBad. Each stands behind a sound record in whatever list that is in, and never changes.

// twin marks an entry of a list as the bad record behind the record of that index.
const twin uint32 = 1 << 31

// twinEvery is how many records there are for a bad one.
const twinEvery = 29

func (s *scene) hasTwin(i uint32) bool {
	return s.drift&DriftBad != 0 && (uint64(i)+s.seed)%twinEvery == 0
}

// withTwins puts the bad records of a list behind their sound ones.
func (s *scene) withTwins(list []uint32) []uint32 {
	if s.drift&DriftBad == 0 {
		return list
	}
	with := make([]uint32, 0, len(list)+len(list)/twinEvery+1)
	for _, i := range list {
		with = append(with, i)
		if s.hasTwin(i) {
			with = append(with, i|twin)
		}
	}
	return with
}

// badRequests and badItems are formats that take a number, so that no two bad records are alike.
var (
	badRequests = []string{
		`{"id":"bad%06d","name":"Projeto Residencial","name":"Projeto Comercial"}`,
		"{\"id\":\"bad%06d\",\"name\":\"Projeto S\xe3o Jos\xe9\"}", // Latin-1
		`{"id":null,"name":"Projeto %06d"}`,
		`{"id":"bad%06d","payment":{"status":"received","status":"cancelled"}}`,
		`"bad%06d"`,
		`{"name":"Projeto %06d","code":null}`,
		`[{"id":"bad%06d"}]`,
		`1%06d`,
	}
	badItems = []string{
		`{"type":"module","productCode":"BAD%06d","baseprice":1,"baseprice":2}`,
		"{\"type\":\"module\",\"productCode\":\"BAD%06d\",\"name\":\"M\xf3dulo\"}",
		`{"type":"module","productCode":null,"name":"Módulo %06d"}`,
		`{"type":"module","productCode":"BAD%06d","inventory":{"current":1,"current":2}}`,
		`"BAD%06d"`,
		`{"type":"inverter","name":"Inversor %06d"}`,
		`[{"type":"module","productCode":"BAD%06d"}]`,
		`1%06d`,
	}
)

func appendBad(b []byte, i uint32, equipment bool) []byte {
	formats := badRequests
	if equipment {
		formats = badItems
	}
	return fmt.Appendf(b, formats[int(i/twinEvery)%len(formats)], i)
}

// BadRecords is how many bad records a complete reading of a resource meets at this moment, among the live and the
// removed ones together.
func (p *Platform) BadRecords(resource string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := 0
	if resource == ResourceEquipments {
		for i := range p.world.items {
			if p.world.hasTwin(uint32(i)) && !p.world.items[i].gone {
				n++
			}
		}
		return n
	}
	for i := range p.world.requests {
		r := &p.world.requests[i]
		if p.world.hasTwin(uint32(i)) && !r.gone && r.resource() == resource {
			n++
		}
	}
	return n
}
