package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"
)

// taskVariable holds, in the environment of a child process, what it is to do.
const taskVariable = "SOLARMIRROR_BENCHMARK_TASK"

// task is what a child process does.
type task struct {
	Contender string // "" serves the platform
	URL       string // of the platform
	DB        string
	Progress  bool // say how many records are committed, after each commit
}

// usage is what a piece of work has taken.
type usage struct {
	Wall    time.Duration
	CPU     time.Duration
	Mallocs uint64
}

func (u usage) minus(v usage) usage {
	return usage{u.Wall - v.Wall, u.CPU - v.CPU, u.Mallocs - v.Mallocs}
}

// outcome is what a contender did and took.
type outcome struct {
	Records int64
	Load    usage // but for the marts
	Marts   usage
	PeakRSS int64 // bytes
}

// report is one line of a child's output.
type report struct {
	Committed int64    `json:",omitzero"`
	Outcome   *outcome `json:",omitzero"`
}

func isChild() bool { return os.Getenv(taskVariable) != "" }

// runChild does what the environment says and ends the process.
func runChild() {
	if err := doTask(os.Getenv(taskVariable), os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

func doTask(text string, stdin io.Reader, stdout io.Writer) error {
	var t task
	if err := json.Unmarshal([]byte(text), &t); err != nil {
		return err
	}
	if t.Contender == "" {
		return servePlatform(stdin, stdout)
	}
	c, _ := findContender(t.Contender)
	got, err := c.load(t)
	if err != nil {
		return err
	}
	return json.NewEncoder(stdout).Encode(report{Outcome: &got})
}

// begun is when this process began, as far as it can tell.
var begun = time.Now()

// used returns what this process has taken so far.
func used() usage {
	var r syscall.Rusage
	var m runtime.MemStats
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		panic(err) // it cannot fail with these arguments
	}
	runtime.ReadMemStats(&m)
	return usage{time.Since(begun), time.Duration(r.Utime.Nano() + r.Stime.Nano()), m.Mallocs}
}

// childCommand is this program, told to do a task.
func childCommand(ctx context.Context, t task, env []string) (*exec.Cmd, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(t)
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, self)
	cmd.Env = append(append(os.Environ(), env...), taskVariable+"="+string(text))
	cmd.Stderr = os.Stderr
	return cmd, nil
}

// measure has a child process do a contender's work; committed, where it is not nil, is told of every commit.
func measure(ctx context.Context, c contender, t task, committed func(records int64)) (outcome, error) {
	t.Contender, t.Progress = c.name, committed != nil
	cmd, err := childCommand(ctx, t, c.env)
	if err != nil {
		return outcome{}, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return outcome{}, err
	}
	if err := cmd.Start(); err != nil {
		return outcome{}, err
	}
	got, readErr := readReports(out, committed)
	if err := errors.Join(cmd.Wait(), readErr); err != nil {
		return outcome{}, fmt.Errorf("%s: %w", c.name, err)
	}
	got.PeakRSS = peakRSS(cmd.ProcessState)
	return got, nil
}

func readReports(out io.Reader, committed func(int64)) (got outcome, err error) {
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		var r report
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			return got, fmt.Errorf("%q: %w", lines.Text(), err)
		}
		switch {
		case r.Outcome != nil:
			got = *r.Outcome
		case committed != nil:
			committed(r.Committed)
		}
	}
	return got, lines.Err()
}

// peakRSS is the most memory that a process had at one time. Linux counts in kilobytes, and counts from this process's own size on, which
// is small.
func peakRSS(p *os.ProcessState) int64 {
	return p.SysUsage().(*syscall.Rusage).Maxrss << 10
}

// measureCommand runs another program to its end.
func measureCommand(cmd *exec.Cmd) (outcome, error) {
	var said bytes.Buffer
	cmd.Stderr = &said
	began := time.Now()
	if err := cmd.Run(); err != nil {
		return outcome{}, fmt.Errorf("%s: %w: %s", cmd.Args[0], err, bytes.TrimSpace(said.Bytes()))
	}
	p := cmd.ProcessState
	return outcome{Load: usage{Wall: time.Since(began), CPU: p.UserTime() + p.SystemTime()}, PeakRSS: peakRSS(p)}, nil
}
