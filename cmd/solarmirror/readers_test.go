package main

import (
	"bytes"
	"os/exec"
	"testing"
)

// output runs a program of others and returns what it printed.
func output(t *testing.T, cmd *exec.Cmd) []byte {
	t.Helper()
	var out, problems bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &problems
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s: %v\n%s%s", cmd.Path, err, out.Bytes(), problems.Bytes())
	}
	return out.Bytes()
}
