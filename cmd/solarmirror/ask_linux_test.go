package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/google/go-cmp/cmp"
)

// person is somebody at a pseudo terminal in which the program runs.
type person struct {
	t        *testing.T
	keyboard *os.File // the terminal's other end
	terminal *os.File
	cmd      *exec.Cmd
	stdout   bytes.Buffer
	gone     chan struct{} // closed when all that was written to the terminal has been read

	mu     sync.Mutex
	screen []byte
	read   int // of screen, up to the last prompt waited for
}

// sit starts a command line in a terminal of its own; data goes elsewhere, as in a shell's redirection.
func sit(t *testing.T, cmd *exec.Cmd) *person {
	t.Helper()
	p := &person{t: t, cmd: cmd, gone: make(chan struct{})}
	p.keyboard, p.terminal = openTerminal(t)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = p.terminal, &p.stdout, p.terminal
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true} // Ctrl-C reaches who has the terminal
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go p.watch()
	return p
}

func openTerminal(t *testing.T) (keyboard, terminal *os.File) {
	t.Helper()
	keyboard, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skip("no pseudo terminals here:", err)
	}
	t.Cleanup(func() { keyboard.Close() })
	if err := unix.IoctlSetPointerInt(int(keyboard.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(int(keyboard.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	terminal, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { terminal.Close() })
	return keyboard, terminal
}

// watch reads the screen until the terminal is gone.
func (p *person) watch() {
	defer close(p.gone)
	buf := make([]byte, 4096)
	for {
		n, err := p.keyboard.Read(buf)
		p.mu.Lock()
		p.screen = append(p.screen, buf[:n]...)
		p.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// eventually waits until something is so.
func (p *person) eventually(what string, so func() bool) {
	p.t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !so(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(deadline) {
			p.t.Fatalf("%s: not on the screen:\n%s", what, p.shown())
		}
	}
}

func (p *person) shown() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return string(p.screen)
}

// answer waits for a question and types a line.
func (p *person) answer(question, line string) {
	p.t.Helper()
	p.waitFor(question)
	p.keys(line + "\n")
}

func (p *person) waitFor(text string) {
	p.t.Helper()
	p.eventually(text, func() bool {
		p.mu.Lock()
		defer p.mu.Unlock()
		i := bytes.Index(p.screen[p.read:], []byte(text))
		if i >= 0 {
			p.read += i + len(text)
		}
		return i >= 0
	})
}

func (p *person) keys(typed string) {
	p.t.Helper()
	if _, err := io.WriteString(p.keyboard, typed); err != nil {
		p.t.Fatal(err)
	}
}

// answerHidden types a line as soon as the terminal does not show it.
func (p *person) answerHidden(question, line string) {
	p.t.Helper()
	p.waitFor(question)
	p.eventually("no echo after "+question, func() bool { return !p.echoes() })
	p.keys(line + "\n")
}

// echoes says whether the terminal shows what is typed.
func (p *person) echoes() bool {
	p.t.Helper()
	state, err := unix.IoctlGetTermios(int(p.terminal.Fd()), unix.TCGETS)
	if err != nil {
		p.t.Fatal(err)
	}
	return state.Lflag&unix.ECHO != 0
}

// mustEnd waits for the program.
func (p *person) mustEnd(code int) {
	p.t.Helper()
	if got := exitCodeOf(p.t, p.cmd, p.cmd.Wait()); got != code {
		p.t.Fatalf("exit code %d, want %d\n%s", got, code, p.shown())
	}
	if !p.echoes() {
		p.t.Error("the terminal was left without its echo")
	}
	p.terminal.Close()
	<-p.gone
	if strings.Contains(p.shown()+p.stdout.String(), canaryPassword) {
		p.t.Errorf("the password is on the screen:\n%s%s", p.shown(), p.stdout.String())
	}
}

// answerContact answers the first questions, some of them wrongly first.
func (p *person) answerContact() {
	p.t.Helper()
	p.answer("First name of the contact: ", "")
	p.waitFor("name is missing")
	p.answer("First name of the contact: ", " Ana ")
	p.answer("Surname: ", "Souza")
	p.answer("E-mail: ", "ana")
	p.waitFor("email is no e-mail address")
	p.answer("E-mail: ", "ana@example.com")
	p.answer("CNPJ (empty for an individual): ", "11.222.333/0001-82")
	p.waitFor("CNPJ has wrong check digits")
}

func (p *person) answerRest() {
	p.t.Helper()
	p.answer("CEP: ", "01310100")
	p.answer("State (UF): ", "XX")
	p.waitFor("address.state is no federative unit")
	p.answer("State (UF): ", "sp")
	p.answer("City: ", "São Paulo")
	p.answer("Street: ", "Avenida Paulista")
	p.answer("Number: ", "1")
	p.answer("Neighbourhood: ", "")
	p.answer("Complement: ", "")
	p.answer("Mobile number: ", "11912345678")
	p.answer("Responsible collaborator's e-mail: ", "")
	p.answer("State registration (empty for none): ", "123")
}

// outboxRows are all rows of the outbox as another program reads them.
func (w *watched) outboxRows(t *testing.T) []string {
	t.Helper()
	return (&program{dir: w.dir, mirror: "data/private/outbox.db"}).strings(t, `SELECT state || ' ' || concat_ws('|', name, surname, email, password, cpf, cnpj,
		address_cep, address_state, address_city, address_patio, address_number, cellphone, has_state_inscription, state_inscription) FROM company_outbox`)
}

// TestOutboxAddAsks has a person queue companies at a terminal: each field is asked for, again while it is not valid, and the password stays hidden.
func TestOutboxAddAsks(t *testing.T) {
	t.Parallel()
	w := newWatched(t)
	p := sit(t, w.command(t, "outbox", "add"))
	p.answerContact()
	p.answer("CNPJ (empty for an individual): ", "11222333000181")
	p.answerRest()
	p.answerHidden("Password (not shown): ", "")
	p.waitFor("password is missing")
	p.answerHidden("Password (not shown): ", canaryPassword)
	p.answerHidden("The password again: ", canaryPassword+"x")
	p.waitFor("the two differ")
	p.answerHidden("Password (not shown): ", canaryPassword)
	p.answerHidden("The password again: ", canaryPassword)
	p.mustEnd(exitOK)
	if strings.Contains(p.shown(), "CPF: ") {
		t.Error("a CPF is asked for beside a CNPJ")
	}
	want := []string{"pending Ana|Souza|ana@example.com|" + canaryPassword +
		"|11.222.333/0001-81|01310-100|SP|São Paulo|Avenida Paulista|1|(11) 91234-5678|sim|123"}
	if diff := cmp.Diff(want, w.outboxRows(t)); diff != "" {
		t.Error(diff)
	}

	individual := sit(t, w.command(t, "outbox", "add"))
	individual.answer("First name of the contact: ", "Bia")
	individual.answer("Surname: ", "")
	individual.answer("E-mail: ", "bia@example.com")
	individual.answer("CNPJ (empty for an individual): ", "")
	individual.answer("CPF: ", "")
	individual.waitFor("CPF is missing, and so is CNPJ")
	individual.keys("\x04") // Ctrl-D
	individual.mustEnd(exitFailed)
	if !strings.Contains(individual.shown(), "nothing was queued: the input ended before all was answered") {
		t.Errorf("it says:\n%s", individual.shown())
	}
	if n := len(w.outboxRows(t)); n != 1 {
		t.Errorf("%d rows, want 1", n)
	}
}

// TestQuestionsAreInterrupted presses Ctrl-C at a question and at the password: the program ends at once and the terminal is as it was.
func TestQuestionsAreInterrupted(t *testing.T) {
	t.Parallel()
	w := newWatched(t)
	w.mustExit(t, exitOK, "", "outbox", "list") // which makes the file
	at := sit(t, w.command(t, "outbox", "add"))
	at.answerContact()
	at.waitFor("CNPJ (empty for an individual): ")
	at.keys("\x03")
	at.mustEnd(exitInterrupted)

	late := sit(t, w.command(t, "outbox", "add"))
	late.answerContact()
	late.answer("CNPJ (empty for an individual): ", "11222333000181")
	late.answerRest()
	late.answerHidden("Password (not shown): ", canaryPassword)
	late.waitFor("The password again: ")
	late.eventually("no echo", func() bool { return !late.echoes() })
	late.keys("\x03")
	late.mustEnd(exitInterrupted)
	if n := len(w.outboxRows(t)); n != 0 {
		t.Errorf("%d rows, want none", n)
	}
}

// TestResolveAsks settles a doubt at a terminal, where any other answer than y leaves it.
func TestResolveAsks(t *testing.T) {
	t.Parallel()
	w := newWatched(t)
	w.mustExit(t, exitOK, companyJSON("11.222.333/0001-81"), "outbox", "add")
	w.mustExit(t, exitOK, "", "sync", "equipments")
	w.crash(t, "push")
	w.mustExit(t, exitFailed, "", "push") // which finds it half done
	for _, c := range []struct {
		typed string
		code  int
		state string
	}{{"n\n", exitFailed, "ambiguous"}, {"\n", exitFailed, "ambiguous"}, {"\x04", exitFailed, "ambiguous"}, {"Y\n", exitOK, "done"}} {
		p := sit(t, w.command(t, "outbox", "resolve", "1", "--as", "done"))
		p.waitFor("Settle row 1 as done? [y/N] ")
		p.keys(c.typed)
		p.mustEnd(c.code)
		if got := w.strings(t, "SELECT state FROM company_creations"); got[0] != c.state {
			t.Errorf("after %q the row is %v, want %s", c.typed, got, c.state)
		}
	}
}
