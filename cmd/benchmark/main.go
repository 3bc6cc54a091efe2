// Command benchmark measures solarmirror beside what else could fill the same tables, and says where each of its targets stands. It
// is a module of its own, since the others need cgo.
//
// A simulated platform, in a process of its own, serves pages that were rendered beforehand. Each contender is a child process that
// reads the whole of it, over HTTP, into a file: a first load, then re-syncs for which some records have changed. Wall time, CPU time
// and peak memory are those of the child, of its whole life. The contenders take turns, round by round; targets are ratios
// within a round, of which the median counts. What a first load or re-sync takes does not include the marts, which no other contender
// has: they have lines of their own.
//
// The README beside this file has the contenders, and the table as it was last printed.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
)

func main() {
	if isChild() {
		runChild()
		return
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	o, err := parseFlags(os.Args[1:], os.Stderr)
	if errors.Is(err, flag.ErrHelp) {
		return
	}
	if err == nil {
		err = run(ctx, o, os.Stdout, os.Stderr)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "benchmark:", err)
		os.Exit(1)
	}
}

// options are the flags.
type options struct {
	sizes      []int // ascending
	rounds     int
	dir        string // for the files of the run; "" is a temporary one
	contenders []contender
	throttled  int // records of the first load against a slow platform
}

// oneRound is the size from which on there is one round, whatever the flag says: it takes about a minute per contender and step.
const oneRound = 500_000

func (o options) roundsAt(size int) int {
	if size >= oneRound {
		return 1
	}
	return o.rounds
}

func parseFlags(args []string, stderr io.Writer) (o options, err error) {
	flags := flag.NewFlagSet("benchmark", flag.ContinueOnError)
	flags.SetOutput(stderr)
	sizes := flags.String("sizes", "10000,100000,1000000", "`records` of the simulated platform, with commas between")
	names := flags.String("contenders", strings.Join(contenderNames(), ","), "who takes part, with commas between")
	flags.IntVar(&o.rounds, "rounds", 3, fmt.Sprintf("`times` each is measured; once from %d records on", oneRound))
	flags.StringVar(&o.dir, "dir", "", "`directory` for the files of the run (default a temporary one); a million records need 12 GB")
	flags.IntVar(&o.throttled, "throttled", 10_000, "`records` read from a platform of 200 ms latency at 5 requests per second; 0 leaves that out")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	if flags.NArg() > 0 {
		return o, fmt.Errorf("unexpected argument %q; see -help", flags.Arg(0))
	}
	for text := range strings.SplitSeq(*sizes, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(text))
		if err != nil || n < pageSize {
			return o, fmt.Errorf("-sizes: %q is no number of records; the least is %d", text, pageSize)
		}
		o.sizes = append(o.sizes, n)
	}
	slices.Sort(o.sizes)
	if o.rounds < 1 {
		return o, errors.New("-rounds must be 1 or more")
	}
	o.contenders, err = parseContenders(*names)
	return o, err
}
