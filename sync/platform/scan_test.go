package platform

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// scanAll scans a whole document, and splits it when it is an array.
func scanAll(text []byte) (elements [][]byte, err error) {
	s := scanner{text: text}
	s.space()
	ok := false
	if s.peek() == '[' {
		ok = s.array(&elements)
	} else {
		ok = s.pass()
	}
	if ok {
		s.end()
	}
	return elements, s.err()
}

func TestScanVerdicts(t *testing.T) {
	t.Parallel()
	deep := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	for _, test := range []struct {
		text  string
		fault string // "" for valid
	}{
		{`0`, ""}, {`-0`, ""}, {`10`, ""}, {`-1.5e+10`, ""}, {`1E-2`, ""}, {`0.0`, ""},
		{`01`, faultTrailing}, {`-`, faultNumber}, {`+1`, faultValue}, {`.5`, faultValue}, {`1.`, faultNumber}, {`1e`, faultNumber},
		{`1e+`, faultNumber}, {`-a`, faultNumber}, {`0x1`, faultTrailing}, {`NaN`, faultValue}, {`Infinity`, faultValue},
		{`true`, ""}, {`false`, ""}, {`null`, ""}, {`tru`, faultValue}, {`nul0`, faultValue}, {`truee`, faultTrailing},
		{`""`, ""}, {`"\"\\\/\b\f\n\r\t\u00aF"`, ""}, {`"\x"`, faultEscape}, {`"\u12g4"`, faultEscape}, {`"\u12`, faultEscape}, {`"\`, faultEscape},
		{`"`, faultControl}, {"\"\n\"", faultControl}, {"\"\x00\"", faultControl}, {"\"\x1f\"", faultControl}, {"\"\x7f\"", ""},
		{"\"\xff\xfe\"", ""}, {`"\ud800"`, ""}, {`{"a":1,"a":2}`, ""},
		{`[]`, ""}, {`[ ]`, ""}, {`[1,]`, faultValue}, {`[,1]`, faultValue}, {`[1 2]`, faultComma}, {`[1`, faultComma}, {`[`, faultValue}, {`]`, faultValue},
		{`{}`, ""}, {`{ }`, ""}, {`{"a"}`, faultColon}, {`{"a":}`, faultValue}, {`{"a":1,}`, faultKey}, {`{a:1}`, faultKey}, {`{"a":1]`, faultComma}, {`{1:1}`, faultKey},
		{"\t\r\n [\t1\r,\n2 ] \n", ""}, {"[1]\x00", faultTrailing}, {"\x00", faultValue}, {"[\x00]", faultValue}, {"\ufeff[]", faultValue}, {"[1]\v", faultTrailing},
		{`[] []`, faultTrailing}, {`[1/**/]`, faultComma},
		{deep(maxDepth), ""}, {deep(maxDepth + 1), ""}, {strings.Repeat("[", maxDepth) + "x", faultValue}, {strings.Repeat("[", maxDepth+1) + "x", faultDepth},
		{strings.Repeat(`{"a":`, maxDepth) + "1" + strings.Repeat("}", maxDepth), ""},
	} {
		_, err := scanAll([]byte(test.text))
		got := ""
		if err != nil {
			got = err.(*syntaxError).fault
		}
		if got != test.fault {
			t.Errorf("%.40q: got %q, want %q", test.text, got, test.fault)
		}
		if want := json.Valid([]byte(test.text)); want != (err == nil) {
			t.Errorf("%.40q: encoding/json says %v", test.text, want)
		}
	}
}

// skip agrees with the scanner at every place of every text where a value may start: the same end, or none.
func TestSkipAgrees(t *testing.T) {
	t.Parallel()
	texts := []string{
		`{"a":[1,-2.5e-7,{"b":"\u00e9\"","c":[[],{}, [ ]]}],"d":true,"e":null,"f":false}`, " { \"a\" :\t[ 1 , \r\n2 ] , \"b\" : { } } ", `[{}]}`, `{"a":]}`, `{"a":1,}`, `{"a":1]`, `[1}`,
		`[1,]`, `[,1]`, `{,}`, `{"a" 1}`, `{1:1}`, `{"a":tru}`, `[nul]`, `"\x"`, `"\u12"`, "\"\x01\"", `-`, `01`, `1.`, `[[[`, `{"a":{"b":`, `12 34`, string(benchmarkBody()[:6000]),
		strings.Repeat(`{"a":[`, 32) + strings.Repeat(`]}`, 32),
	}
	for _, text := range texts {
		for cut := range min(len(text), 80) {
			agree(t, []byte(text[:len(text)-cut]))
		}
	}
	for _, levels := range []int{63, 64, 65, 127, 128, 129, 192, 200} {
		text := strings.Repeat(`{"a":[`, levels/2) + strings.Repeat("[", levels%2) + strings.Repeat("]", levels%2) + strings.Repeat(`]}`, levels/2)
		agree(t, []byte(text))
		for at := range text {
			if c := text[at]; c == ']' || c == '}' {
				agree(t, []byte(text[:at]+string(c^(']'^'}'))+text[at+1:]))
			}
		}
	}
	million := []byte(strings.Repeat("[", 1_000_000) + strings.Repeat("]", 1_000_000))
	if got := skip(million, 0); got != len(million) {
		t.Errorf("a million levels: skip found the end at %d", got)
	}
}

func agree(t *testing.T, text []byte) {
	t.Helper()
	for at := range text {
		want := scanner{text: text, pos: at}
		if !want.value() {
			want.pos = -1
		}
		if got := skip(text, at); got != want.pos {
			t.Fatalf("%q at %d: skip says %d, the scanner %d", text, at, got, want.pos)
		}
	}
}

// Every plain length around the eight-byte steps, with every byte that ends a plain run at every place.
func TestScanFindsEveryByteOfAString(t *testing.T) {
	t.Parallel()
	for length := range 40 {
		for at := range length {
			for c := range 256 {
				text := []byte(`"` + strings.Repeat("\xe9", length) + `"`)
				text[1+at] = byte(c)
				_, err := scanAll(text)
				if json.Valid(text) != (err == nil) {
					t.Fatalf("%q: %v", text, err)
				}
			}
		}
	}
}

func TestEveryCutIsNoticed(t *testing.T) {
	t.Parallel()
	text := []byte(`{"error":null,"data":{"items":[{"a":"é\u00e9","b":[-1.5e3,true]},{"c":{}}],"totalItems":2}}`)
	for n := range text {
		_, err := scanAll(text[:n])
		syntax, ok := err.(*syntaxError)
		if !ok || !syntax.cut {
			t.Errorf("%q: got %v, want a cut", text[:n], err)
		}
	}
}

func TestElementsCannotGrowIntoEachOther(t *testing.T) {
	t.Parallel()
	text := []byte(`[1,2,3]`)
	elements, err := scanAll(text)
	if err != nil {
		t.Fatal(err)
	}
	_ = append(elements[0], "999"...)
	if string(text) != `[1,2,3]` {
		t.Errorf("the body became %s", text)
	}
}

func FuzzScan(f *testing.F) {
	for _, seed := range []string{
		twoRows, `[]`, `[1,-2.5e-7,"a\u00e9\n",true,false,null,{"a":{"b":[[]]}}]`, ` { "a" : [ 1 , 2 ] } `, `"\ud83d\ude00"`,
		"[\"\xff\",\"\\ud800\",{\"a\":1,\"a\":2}]", `[1,]`, `{"a":1,}`, `01`, `1e5`, `"12345678"`, `"1234567\"`, "\"1234567\x01\"", `[tru]`, "[1]\x00", "",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if bytes.Count(text, []byte("["))+bytes.Count(text, []byte("{")) > maxDepth {
			return
		}
		agree(t, text)
		elements, err := scanAll(text)
		if valid := json.Valid(text); valid != (err == nil) {
			t.Fatalf("%q: valid is %v, but %v", text, valid, err)
		}
		var want []json.RawMessage
		if err != nil || json.Unmarshal(text, &want) != nil {
			return
		}
		texts := make([]string, len(want))
		for i := range want {
			texts[i] = string(want[i])
		}
		compareRecords(t, text, elements, texts)
	})
}

// benchmarkBody is a page of 50 records like the platform's: about 5 KB and 250 values each.
func benchmarkBody() []byte {
	var body bytes.Buffer
	body.WriteString(`{"error":null,"data":{"items":[`)
	for i := range 50 {
		if i > 0 {
			body.WriteByte(',')
		}
		fmt.Fprintf(&body, `{"id":"65f1c0ffee%014d","name":"Projeto residencial São José","code":"PED-%06d","totalPower":12.65,"removed":false,"budgetCreated":"2026-01-02T03:04:05.678Z","notes":"<p>Cliente pediu \"entrega\" pela manhã, telhado cerâmico.</p>","products":[`, i, i)
		for j := range 20 {
			if j > 0 {
				body.WriteByte(',')
			}
			fmt.Fprintf(&body, `{"type":"module","productCode":"MOD-%04d","name":"Módulo 550 W monocristalino","quantity":%d,"singlePrice":719.9,"totalPrice":%d.8,"structure":{"name":"Trilho","type":"ceramico","amount":4,"price":98.5},"center":{"name":"Centro Sul","code":"CD-01"}}`, j, j+1, 720*j)
		}
		body.WriteString(`],"freight":{"type":"CIF","price":350,"address":{"CEP":"88101-000","state":"SC","city":"São José"}},"apiSent":true}`)
	}
	body.WriteString(`],"totalItems":50}}`)
	return body.Bytes()
}

func BenchmarkParseList(b *testing.B) {
	body := benchmarkBody()
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		if got, err := parseList(body, EnvelopeAuto, 50); err != nil || len(got.records) != 50 {
			b.Fatal(len(got.records), err)
		}
	}
}

func BenchmarkEncodingJSONValid(b *testing.B) {
	body := benchmarkBody()
	b.SetBytes(int64(len(body)))
	for b.Loop() {
		if !json.Valid(body) {
			b.Fatal("not valid")
		}
	}
}
