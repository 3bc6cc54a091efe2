package export

import (
	"os"
	osexec "os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"solarmirror/store/testsize"
)

// TestWorkbookMemory: thirty times the rows take the same memory. They go to no directory for
// temporary files either: there is none.
func TestWorkbookMemory(t *testing.T) {
	t.Parallel()
	few, many := memoryOfWorkbook(t, testsize.Fewer(10_000)), memoryOfWorkbook(t, testsize.Fewer(300_000))
	t.Logf("%d KiB, then %d KiB", few, many)
	if many > few+24<<10 { // the rows themselves are more than 40 MiB
		t.Errorf("%d KiB became %d KiB", few, many)
	}
}

// memoryOfWorkbook is the most memory, in KiB, that a process took for so many rows.
func memoryOfWorkbook(t *testing.T, rows int) int64 {
	t.Helper()
	m := openMirror(t, t.TempDir())
	exec(t, m, `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
		INSERT INTO bi_lead_time (request_key, id, seller_email, order_date, days_to_order)
		SELECT i, hex(randomblob(40)), hex(randomblob(20)), '2026-01-02', i / 7.0 FROM n`, rows)
	must(t, m.Close())
	cmd := osexec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), writesWorkbook+"="+m.Path(), "TMPDIR="+filepath.Join(filepath.Dir(m.Path()), "none"))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return maxRSS(t, cmd.ProcessState)
}

// maxRSS is the most memory that a process had, in KiB.
func maxRSS(t *testing.T, ended *os.ProcessState) int64 {
	t.Helper()
	usage, ok := ended.SysUsage().(*syscall.Rusage)
	if !ok {
		t.Fatalf("the system tells %T", ended.SysUsage())
	}
	return usage.Maxrss
}
