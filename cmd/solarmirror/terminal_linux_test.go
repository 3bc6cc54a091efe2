package main

import (
	"os/exec"
	"strings"
	"testing"
)

// On a terminal, a reject is printed without control characters.
func TestRejectOnATerminal(t *testing.T) {
	t.Parallel()
	config, _ := atHostilePlatform(t)
	show := func(line ...string) string {
		keyboard, terminal := openTerminal(t)
		cmd := exec.Command("solarmirror", append([]string{"--config", config}, line...)...)
		cmd.Stdout, cmd.Stderr = terminal, terminal
		p := &person{t: t, keyboard: keyboard, terminal: terminal, gone: make(chan struct{})}
		go p.watch()
		_ = cmd.Run()
		terminal.Close()
		<-p.gone
		return p.shown()
	}
	show("sync")
	shown := show("rejects", "show", "1")
	if !strings.Contains(shown, "owned") {
		t.Errorf("shown is %q", shown)
	}
	mustNotSteer(t, "rejects show", shown)
}
