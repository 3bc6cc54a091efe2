package main

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"solarmirror/cmd/internal/testtools"
	"solarmirror/schema"
)

var mermaidBlock = regexp.MustCompile("(?s)```mermaid\n(.*?)```")

// The diagrams are read by Mermaid's own parser, which also refuses the broken one added to them.
func TestEntityDiagrams(t *testing.T) {
	t.Parallel()
	node := testtools.Node(t, "mermaid", `
import mermaid from "mermaid";
import { text } from "node:stream/consumers";
const verdicts = [];
for (const diagram of JSON.parse(await text(process.stdin))) {
  verdicts.push(await mermaid.parse(diagram).then(found => found.diagramType, fault => String(fault)));
}
console.log(JSON.stringify(verdicts));`)
	var diagrams []string
	for _, block := range mermaidBlock.FindAllStringSubmatch(schema.Markdown(schema.English)+schema.Markdown(schema.Portuguese), -1) {
		diagrams = append(diagrams, block[1])
	}
	if len(diagrams) < 2*5 {
		t.Fatalf("%d diagrams, want one per group of tables and language", len(diagrams))
	}
	input, err := json.Marshal(append(diagrams, "erDiagram\n  a ||--o[ b : broken\n"))
	if err != nil {
		t.Fatal(err)
	}
	node.Stdin = strings.NewReader(string(input))
	var verdicts []string
	if err := json.Unmarshal(output(t, node), &verdicts); err != nil {
		t.Fatal(err)
	}
	for i, diagram := range diagrams {
		if verdicts[i] != "er" {
			t.Errorf("%s\n%s", verdicts[i], diagram)
		}
	}
	if last := verdicts[len(diagrams)]; !strings.Contains(last, "Parse error") {
		t.Errorf("the broken diagram is %q", last)
	}
}

// Not parallel: the tests that are wait until the table is as it was.
func TestUndeclaredColumnIsListedAsPersonal(t *testing.T) {
	declared := schema.Runs.Columns
	t.Cleanup(func() { schema.Runs.Columns = declared })
	schema.Runs.Columns = []schema.Column{{Name: "started_by", Type: schema.Text, Doc: "Who.", Label: "Quem"}}
	var out strings.Builder
	cmd := newSchemaColumnsCommand(&app{stdout: &out})
	cmd.SetArgs([]string{"_runs"})
	if err := cmd.Execute(); err != nil {
		t.Fatal(err)
	}
	if !regexp.MustCompile(`(?m)^_runs +started_by +TEXT +Quem +yes +Who\.$`).MatchString(out.String()) {
		t.Errorf("schema columns prints\n%s", &out)
	}
}
