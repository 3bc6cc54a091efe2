package alerts

import (
	"context"
	"fmt"
	"sync"
)

// Result is what became of a test.
type Result struct {
	Name string // of what was tested: "alert 2 (slack)", "ping"
	Err  error
}

// Try sends a test message to each address, and asks the address to ping for what changes nothing
// there (/log).
func Try(ctx context.Context, addresses []string, pingAddress string, t Tongue) []Result {
	ctx, cancel := context.WithTimeout(ctx, sendTime)
	defer cancel()
	title, text := Message{Kind: Test}.Text(t)
	results := make([]Result, len(addresses))
	var all sync.WaitGroup
	for i, address := range addresses {
		all.Go(func() {
			results[i] = Result{fmt.Sprintf("alert %d (%s)", i+1, kindOf(address)), send(ctx, address, title, text)}
		})
	}
	var pinged []Result
	if pingAddress != "" {
		pinged = []Result{{"ping", post(ctx, pingAddress, ping{job: "sync", signal: "/log", body: text})}}
	}
	all.Wait()
	return append(results, pinged...)
}
