package push

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"solarmirror/store/outbox"
	"solarmirror/store/sqlitefile"
	"solarmirror/sync/platform/platformtest"
)

// lines is a log that may be written from anywhere.
type lines struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

// TestCanaries sends companies with known passwords into every outcome, and looks for them and for
// the token in all that is written: the log at its finest, errors, reports, and every byte of both
// databases and what lies beside them.
func TestCanaries(t *testing.T) {
	t.Parallel()
	outcomes := platformtest.CompanyOutcomes()
	r := newRig(t, func(call *platformtest.CompanyCall) platformtest.CompanyOutcome {
		if call.N > int64(len(outcomes)) {
			return platformtest.CompanyAsDeserved
		}
		return outcomes[call.N-1]
	})
	log := &lines{}
	r.log, r.timeout = zerolog.New(log).Level(zerolog.TraceLevel), 300*time.Millisecond
	r.add(companies(len(outcomes) + 5)...)
	execSQL(t, r.outboxPath(), `INSERT INTO company_outbox (name, email, password, cpf) VALUES ('B', 'nobody', 'canary-password-plain', '1')`)
	var said bytes.Buffer
	for range 12 { // outages and refused tokens end a push early
		report, err := r.push()
		encoded, _ := json.Marshal(report)
		fmt.Fprintf(&said, "%v %+v %s\n", err, report, encoded)
		r.clock.advance(maxWait)
	}
	o := r.outbox()
	for _, row := range r.rows() {
		if row.HasPassword { // in doubt: a person says
			_, err := o.Resolve(t.Context(), row.ID, true)
			must(t, err)
		}
	}
	must(t, o.Close())
	rows, err := json.Marshal(r.rows())
	must(t, err)
	for what, text := range map[string][]byte{"the log": log.text.Bytes(), "errors and reports": said.Bytes(), "rows": fmt.Appendf(rows, "%v %+v", r.rows(), r.rows())} {
		mustHoldNoSecret(t, what, text)
	}
	if log.text.Len() == 0 || r.platform.Companies()[0].Password != "canary-password-0" {
		t.Error("nothing was logged or sent, so nothing is proved")
	}
	r.mustHoldNoSecretOnDisk()
}

// TestPanicCanaries has a push of sealed passwords panic at every reading of its clock, before, in
// and after each POST. Neither what the crash prints nor the log nor any file tells a secret, and
// the next push repeats nothing.
func TestPanicCanaries(t *testing.T) {
	t.Parallel()
	keys := filepath.Join(t.TempDir(), "key")
	must(t, sqlitefile.GenerateKey(keys))
	crashes, posted := 0, 0
	for at := int64(1); ; at++ {
		r := newRig(t, nil)
		var err error
		r.key, err = outbox.ReadSealingKey(t.Context(), keys)
		must(t, err)
		r.clock.ms.Store(time.Now().UnixMilli())
		r.add(companies(2)...)
		cmd := r.command(childPush{Key: keys, Timeout: time.Minute, PanicAt: at})
		var said bytes.Buffer
		cmd.Stderr = &said
		err = cmd.Run()
		mustHoldNoSecret(t, "a crash", said.Bytes())
		r.mustHoldNoSecretOnDisk()
		if err == nil {
			break
		}
		if !bytes.Contains(said.Bytes(), []byte("panic: the clock stands still")) || !bytes.Contains(said.Bytes(), []byte("goroutine ")) {
			t.Fatalf("it did not crash as it should: %v\n%s", err, said.Bytes())
		}
		crashes++
		posted += len(r.platform.CompanyCounts())
		r.clock.advance(time.Hour)
		_, _ = r.push()
		for id, count := range r.platform.CompanyCounts() {
			if count.Received > 1 {
				t.Errorf("crash %d: %s was sent %d times", at, id, count.Received)
			}
		}
	}
	if posted == 0 {
		t.Error("no crash came after a POST")
	}
	t.Logf("%d crashes, %d POSTs before them", crashes, posted)
}

// mustHoldNoSecretOnDisk looks at every byte of every file.
func (r *rig) mustHoldNoSecretOnDisk() {
	r.t.Helper()
	must(r.t, filepath.WalkDir(r.dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		mustHoldNoSecret(r.t, path, content)
		return err
	}))
}

func mustHoldNoSecret(t *testing.T, what string, text []byte) {
	t.Helper()
	for _, secret := range []string{"canary-password", token} {
		if i := bytes.Index(text, []byte(secret)); i >= 0 {
			t.Errorf("%s holds a secret: …%s…", what, text[max(0, i-80):min(len(text), i+80)])
		}
	}
}
