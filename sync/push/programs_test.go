package push

import (
	"context"
	"flag"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"solarmirror/store/identity"
	"solarmirror/store/outbox"
	"solarmirror/sync/platform/platformtest"
)

var programSeeds = flag.Int("programs", 3, "how many seeds TestOtherPrograms runs, from -seed on")

// TestOtherPrograms pushes companies while another program changes the outbox file at random,
// between pushes and in the middle of POSTs, and some pushes are killed in a POST. However the
// platform answers: no tax number may have been sent twice after an answer that does not exclude
// its creation, unless its rows allow it, and no intent. Every doubt whose row is still there must
// stand in ambiguous.
//
//	go test ./sync/push -run TestOtherPrograms -programs 500 -timeout 2h
func TestOtherPrograms(t *testing.T) {
	t.Parallel()
	ended := map[outbox.State]int{}
	posts, statements, refused := 0, 0, 0
	for n := range *programSeeds {
		seed := *killSeed + uint64(n)
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			p := newPrograms(t, seed)
			p.run()
			for _, state := range p.states() {
				ended[state]++
			}
			posts, statements, refused = posts+int(p.platform.Served()), statements+p.statements, refused+p.refused
		})
	}
	t.Logf("%d seeds, %d POSTs, %d statements of another program of which %d were refused; rows ended %v", *programSeeds, posts, statements, refused, ended)
	if posts == 0 || statements == refused {
		t.Error("nothing was sent or nothing was changed, so nothing is proved")
	}
}

// programs is one trial.
type programs struct {
	*rig
	dice      *rand.Rand
	snapshots []string

	mu    sync.Mutex // the rest belongs to the platform while a push runs
	child *exec.Cmd
	calm  bool
	// sent counts, by bare tax number and by intent, the calls that may have created a company;
	// doubt and created are of the intents.
	sent           map[string]int
	doubt, created map[string]bool
	allowed        map[string]int // by bare tax number: rows that allow a duplicate
	statements     int
	refused        int
}

func newPrograms(t *testing.T, seed uint64) *programs {
	p := &programs{
		dice: rand.New(rand.NewPCG(seed, 1)), sent: map[string]int{}, allowed: map[string]int{}, doubt: map[string]bool{}, created: map[string]bool{},
	}
	p.rig = newRig(t, p.outcome)
	p.clock.ms.Store(time.Now().UnixMilli()) // which children go by
	p.timeout = 200 * time.Millisecond
	if p.dice.IntN(2) == 0 {
		must(t, os.Remove(p.mirrorPath()))
	}
	return p
}

// outcome draws how a call ends, and lets the other program at the file before and after the
// platform acts.
func (p *programs) outcome(call *platformtest.CompanyCall) platformtest.CompanyOutcome {
	p.mu.Lock()
	defer p.mu.Unlock()
	outcome := platformtest.CompanyAsDeserved
	if outcomes := platformtest.CompanyOutcomes(); !p.calm && p.dice.IntN(2) == 0 {
		outcome = outcomes[p.dice.IntN(len(outcomes))]
	}
	killed := p.child != nil && p.dice.IntN(3) == 0
	bare := identity.PlainTaxID(call.TaxID())
	refuses := outcome == platformtest.CompanyAsDeserved && p.platform.CompanyCounts()[call.TaxID()].Processed > 0
	switch outcome {
	case platformtest.CompanyUnauthorized, platformtest.CompanyForbidden, platformtest.CompanyThrottled,
		platformtest.CompanyNoSuccess, platformtest.CompanyBadRequest, platformtest.CompanyConflict, platformtest.CompanyUnprocessable:
	default:
		if refuses && p.allowed[bare] > 0 {
			break // a duplicate that its row allows
		}
		intent := p.intentOf(bare)
		p.sent[bare]++
		if intent != "" {
			p.sent[intent]++
			p.created[intent] = outcome == platformtest.CompanyAsDeserved && !killed
			p.doubt[intent] = !p.created[intent]
		}
	}
	if !p.calm && p.dice.IntN(2) == 0 {
		p.interfere(1 + p.dice.IntN(3))
	}
	if killed {
		_ = p.child.Process.Kill()
		p.child = nil
	}
	return outcome
}

// intentOf returns the intent that is being sent, "" where other programs made that unclear.
func (p *programs) intentOf(bare string) string {
	return text(p.t, p.outboxPath(), fmt.Sprintf(`SELECT CASE count(*) WHEN 1 THEN max(intent_id) END FROM company_outbox WHERE state = 'sending' AND
		coalesce(nullif(upper(replace(replace(replace(trim(cnpj), '.', ''), '-', ''), '/', '')), ''), replace(replace(trim(cpf), '.', ''), '-', '')) = '%s'`, bare))
}

// interfere has the other program do some things in a row. What the file refuses is not done.
func (p *programs) interfere(times int) {
	for range times {
		p.statements++
		if err := p.interfereOnce(); err != nil {
			p.refused++
		}
	}
}

func (p *programs) interfereOnce() error {
	row := 1 + p.dice.IntN(12)
	where := fmt.Sprintf(" WHERE id = %d", row)
	if p.dice.IntN(2) == 0 {
		where = []string{"", " WHERE state = 'ambiguous'", " WHERE state = 'sending'", " WHERE state IN ('rejected', 'done')"}[p.dice.IntN(4)]
	}
	state := outbox.States()[p.dice.IntN(6)]
	fresh := fmt.Sprintf("'another-intent-%d'", p.dice.Uint32())
	spelling := []string{"cnpj", "replace(replace(replace(cnpj, '.', ''), '-', ''), '/', '')", "' ' || cnpj || char(10)", "lower(cnpj)"}[p.dice.IntN(4)]
	const columns = "name, email, password, cnpj, cpf"
	list := []string{
		"UPDATE company_outbox SET state = 'pending'" + where,
		"UPDATE company_outbox SET state = 'pending', finished_at = NULL, password = 'canary'" + where,
		"UPDATE company_outbox SET state = 'pending', finished_at = NULL, password = 'canary', attempts = 0, revision = 0, claimed_at = NULL, next_attempt_at = NULL, error = NULL" + where,
		fmt.Sprintf("UPDATE company_outbox SET state = '%s'", state) + where,
		fmt.Sprintf("UPDATE company_outbox SET state = '%s', finished_at = created_at, password = NULL", state) + where,
		"UPDATE company_outbox SET state = 'sending', claimed_at = created_at" + where,
		"DELETE FROM company_outbox_attempts",
		"UPDATE company_outbox_attempts SET finished_at = NULL, outcome = NULL",
		"UPDATE company_outbox_attempts SET finished_at = started_at, outcome = 'unsent'",
		fmt.Sprintf("DELETE FROM company_outbox WHERE id = %d", row),
		fmt.Sprintf("INSERT INTO company_outbox (%s) SELECT name, email, 'canary', %s, cpf FROM company_outbox WHERE id = %d", columns, spelling, row),
		fmt.Sprintf("INSERT INTO company_outbox (%s) SELECT name, 'x' || random() || '@example.com', 'canary', %s, cpf FROM company_outbox WHERE id = %d", columns, spelling, row),
		fmt.Sprintf("REPLACE INTO company_outbox (id, %s) SELECT id, name, email, 'canary', cnpj, cpf FROM company_outbox WHERE id = %d AND allow_duplicate = 0", columns, row),
		fmt.Sprintf("REPLACE INTO company_outbox (id, intent_id, %s) SELECT id, intent_id, name, email, 'canary', cnpj, cpf FROM company_outbox WHERE id = %d", columns, row),
		fmt.Sprintf("UPDATE company_outbox SET intent_id = %s WHERE id = %d AND allow_duplicate = 0", fresh, row),
		fmt.Sprintf("UPDATE company_outbox SET id = id + 20 WHERE id = %d", row),
		fmt.Sprintf("UPDATE company_outbox SET cnpj = %s WHERE id = %d", spelling, row),
		fmt.Sprintf("UPDATE company_outbox SET cnpj = (SELECT cnpj FROM company_outbox WHERE id = %d), email = 'x' || random() || '@example.com' WHERE id = %d AND allow_duplicate = 0", 1+p.dice.IntN(6), row),
		"UPDATE company_outbox SET next_attempt_at = NULL",
		"DROP TRIGGER company_outbox_moves",
		"DROP TRIGGER company_outbox_sending",
		"UPDATE _outbox SET sends = 0",
		"UPDATE _outbox SET identity = 'x'",
	}
	switch n := p.dice.IntN(len(list) + 5); {
	case n < len(list):
		return tryExec(p.outboxPath(), list[n])
	case n < len(list)+2:
		return p.keep()
	case n < len(list)+4:
		return p.restore()
	}
	return p.queueAgain()
}

// settleFile has SQLite roll back what a killed push left, so that the file can be copied.
func (p *programs) settleFile() error {
	return tryExec(p.outboxPath(), "UPDATE _outbox SET sends = sends")
}

func (p *programs) keep() error {
	if err := p.settleFile(); err != nil {
		return err
	}
	content, err := os.ReadFile(p.outboxPath())
	if err != nil {
		return err
	}
	name := filepath.Join(p.dir, fmt.Sprintf("kept-%d", len(p.snapshots)))
	p.snapshots = append(p.snapshots, name)
	return os.WriteFile(name, content, 0o600)
}

// restore puts a copy back, into the same file or in its place.
func (p *programs) restore() error {
	if len(p.snapshots) == 0 {
		return fs.ErrNotExist
	}
	if err := p.settleFile(); err != nil {
		return err
	}
	content, err := os.ReadFile(p.snapshots[p.dice.IntN(len(p.snapshots))])
	if err != nil {
		return err
	}
	if p.dice.IntN(2) == 0 {
		return os.WriteFile(p.outboxPath(), content, 0o600)
	}
	if err := os.WriteFile(p.outboxPath()+".restored", content, 0o600); err != nil {
		return err
	}
	return os.Rename(p.outboxPath()+".restored", p.outboxPath())
}

// queueAgain queues any company by the front door.
func (p *programs) queueAgain() error {
	o, err := outbox.Open(context.Background(), p.outboxPath(), outbox.Options{Now: p.clock.now})
	if err != nil {
		return err
	}
	defer o.Close()
	c, allow := company(p.dice.IntN(16)), p.dice.IntN(4) == 0
	c.Email = fmt.Sprintf("y%d@example.com", p.dice.Uint32())
	_, err = o.Add(context.Background(), []outbox.Company{c}, allow)
	if err == nil && allow {
		p.allowed[identity.PlainTaxID(c.TaxID())]++
	}
	return err
}

func (p *programs) run() {
	p.add(companies(6)...)
	for range 10 {
		p.between()
		p.someone()
		p.clock.advance(7 * time.Hour)
	}
	p.mu.Lock()
	p.calm = true
	p.mu.Unlock()
	for round := 0; round == 0 || p.open(); round++ {
		if round == 20 {
			p.t.Fatalf("20 calm pushes leave %v", p.states())
		}
		_, _ = p.pushUnder(p.t.Context()) // ends with what is in doubt
		p.clock.advance(7 * time.Hour)
	}
	p.verify()
}

// between is what happens before a push. A call of the push before may still be under way here,
// which that push gave up.
func (p *programs) between() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.interfere(p.dice.IntN(4))
	_ = p.queueAgain() // refused, perhaps
	if p.dice.IntN(8) > 0 {
		return
	}
	// The file is deleted, and the same queued again: refused where one was sent.
	must(p.t, p.settleFile())
	must(p.t, os.Remove(p.outboxPath()))
	o := p.outbox()
	_, _ = o.Add(p.t.Context(), companies(6), false)
	must(p.t, o.Close())
}

// someone pushes: this process, or another one that may be killed in a POST.
func (p *programs) someone() {
	_, noMirror := os.Stat(p.mirrorPath()) // which a child needs
	p.mu.Lock()
	if noMirror != nil || p.dice.IntN(3) > 0 {
		p.mu.Unlock()
		_, _ = p.pushUnder(p.t.Context())
		return
	}
	cmd := p.command(childPush{Ahead: time.Until(p.clock.now()), Timeout: p.timeout})
	must(p.t, cmd.Start())
	p.child = cmd
	p.mu.Unlock()
	_ = cmd.Wait() // killed, or it ended with what is in doubt
	p.mu.Lock()
	p.child = nil
	p.mu.Unlock()
}

func (p *programs) open() bool {
	for _, state := range p.states() {
		if state == outbox.StatePending || state == outbox.StateSending {
			return true
		}
	}
	return false
}

func (p *programs) verify() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for key, n := range p.sent {
		if n > 1+p.allowed[key] {
			p.t.Errorf("%s was sent %d times; %d rows of it allow that", key, n, p.allowed[key])
		}
	}
	for _, row := range p.rows() {
		switch {
		case p.doubt[row.IntentID] && row.State != outbox.StateAmbiguous, p.created[row.IntentID] && row.State != outbox.StateAmbiguous && row.State != outbox.StateDone:
			p.t.Errorf("row %d is %s (%s); in doubt: %v, created: %v", row.ID, row.State, row.Error, p.doubt[row.IntentID], p.created[row.IntentID])
		case row.State != outbox.StateAmbiguous && row.HasPassword:
			p.t.Errorf("row %d is %s and keeps its password", row.ID, row.State)
		}
	}
	log, err := os.ReadFile(p.outboxPath() + ".sends")
	if err != nil || p.t.Failed() {
		p.t.Logf("%v; the send log:\n%s", err, strings.TrimSpace(string(log)))
	}
}
