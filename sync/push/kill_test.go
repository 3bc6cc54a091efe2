package push

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"strconv"
	"sync"
	"testing"
	"time"

	"solarmirror/store/outbox"
	"solarmirror/sync/platform/platformtest"
)

var (
	killCount = flag.Int("kills", 3, "how often TestKilledPush kills a push")
	killRows  = flag.Int("companies", 8, "how many companies each push of TestKilledPush has to send")
	killSeed  = flag.Uint64("seed", 1, "seed of TestKilledPush")
)

// TestKilledPush kills a real process that sends companies, at a random moment: before the platform
// acts, between acting and answering, after the answer, or whenever. Until then the platform ends
// calls in every way it knows. Pushes run until nothing is pending. No intent may have been sent
// twice, and every doubt must stand as one.
func TestKilledPush(t *testing.T) {
	t.Parallel()
	killed, ended := map[string]int{}, map[outbox.State]int{}
	for n := range *killCount {
		seed := *killSeed + uint64(n)
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			k := newKilling(t, seed)
			k.run()
			if k.struck {
				killed[[]string{"before the platform acted", "after it acted", "after it answered", "at any time"}[k.stage]]++
			}
			for _, state := range k.states() {
				ended[state]++
			}
		})
	}
	verdict := "none sent twice, none lost, every doubt in ambiguous"
	if t.Failed() {
		verdict = "NOT AS PROMISED"
	}
	t.Logf("%d pushes of %d companies, killed %v; the companies ended %v; %s", *killCount, *killRows, killed, ended, verdict)
}

// killing is one trial.
type killing struct {
	*rig
	dice *rand.Rand

	mu     sync.Mutex
	child  *exec.Cmd // the one to be killed; nil afterwards
	victim int64     // the call at which it is killed
	stage  int       // 0 before acting, 1 after acting, 2 after answering, 3 at any time
	calm   bool      // the platform behaves
	struck bool      // it was killed
	// sent counts the calls by tax number that the platform did not turn away for the token or the
	// rate.
	sent map[string]int
}

func newKilling(t *testing.T, seed uint64) *killing {
	k := &killing{dice: rand.New(rand.NewPCG(seed, 0)), sent: map[string]int{}}
	k.rig = newRig(t, k.outcome)
	k.victim, k.stage = 1+k.dice.Int64N(int64(*killRows)), k.dice.IntN(4)
	k.server.Close()
	k.server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		k.platform.ServeHTTP(w, r)
		k.reached(2, k.platform.Served())
	}))
	t.Cleanup(k.server.Close)
	return k
}

// outcome draws how a call ends, and is the first moment to kill at.
func (k *killing) outcome(call *platformtest.CompanyCall) platformtest.CompanyOutcome {
	k.mu.Lock()
	outcomes := platformtest.CompanyOutcomes()
	outcome := platformtest.CompanyAsDeserved
	if !k.calm && k.dice.IntN(4) == 0 {
		outcome = outcomes[k.dice.IntN(len(outcomes))]
	}
	if k.stage == 1 && call.N == k.victim {
		outcome = platformtest.CompanySilentAfter
	}
	switch outcome {
	case platformtest.CompanyUnauthorized, platformtest.CompanyForbidden, platformtest.CompanyThrottled:
	default:
		k.sent[call.TaxID()]++
	}
	k.mu.Unlock()
	k.reached(0, call.N)
	if k.stage == 1 && call.N == k.victim {
		time.AfterFunc(20*time.Millisecond, func() { k.reached(1, call.N) }) // it acts and says nothing
	}
	return outcome
}

// reached kills the child when this is the moment.
func (k *killing) reached(stage int, call int64) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.child != nil && k.stage == stage && call == k.victim {
		_ = k.child.Process.Kill()
		k.child = nil
	}
}

func (k *killing) run() {
	k.add(companies(*killRows)...)
	for round := 0; k.pending(); round++ {
		if round > 50 {
			k.t.Fatal("50 pushes leave rows pending")
		}
		k.push(time.Duration(round) * 7 * time.Hour)
	}
	k.verify()
}

// push is one push, which is killed if none was before and the moment comes.
func (k *killing) push(ahead time.Duration) {
	k.mu.Lock()
	cmd := k.command(childPush{Ahead: ahead, Timeout: 250 * time.Millisecond})
	must(k.t, cmd.Start())
	if !k.struck {
		k.child = cmd
		if k.stage == 3 {
			time.AfterFunc(time.Duration(k.dice.IntN(8**killRows))*time.Millisecond, func() { k.reached(3, k.victim) })
		}
	}
	k.mu.Unlock()
	_ = cmd.Wait() // killed, or it ended with what it could not send
	k.mu.Lock()
	k.struck = k.struck || !cmd.ProcessState.Exited()
	k.child, k.calm = nil, k.struck
	k.mu.Unlock()
}

func (k *killing) pending() bool {
	for _, state := range k.states() {
		if state == outbox.StatePending || state == outbox.StateSending {
			return true
		}
	}
	return false
}

func (k *killing) verify() {
	k.mu.Lock()
	defer k.mu.Unlock()
	rows, counts := k.rows(), k.platform.CompanyCounts()
	if len(rows) != *killRows {
		k.t.Errorf("%d rows, want %d", len(rows), *killRows)
	}
	for _, row := range rows {
		processed := counts[row.CNPJ].Processed
		switch {
		case k.sent[row.CNPJ] > 1, processed > 1:
			k.t.Errorf("row %d was sent %d times and created %d times", row.ID, k.sent[row.CNPJ], processed)
		case row.State == outbox.StateDone && processed != 1, row.State == outbox.StateRejected && processed != 0:
			k.t.Errorf("row %d is %s, and the platform created it %d times", row.ID, row.State, processed)
		case row.HasPassword != (row.State == outbox.StateAmbiguous):
			k.t.Errorf("row %d is %s, and its password is kept: %v", row.ID, row.State, row.HasPassword)
		}
		mirrored := text(k.t, k.mirrorPath(), "SELECT state FROM company_creations WHERE outbox_id = "+strconv.FormatInt(row.ID, 10))
		if mirrored != string(row.State) {
			k.t.Errorf("row %d is %s, and the mirror says %q", row.ID, row.State, mirrored)
		}
	}
}
