package pull

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"solarmirror/sync/platform/platformtest"
)

// benchRecords is how many requests the platform of the benchmarks was made with: budgets that became orders are listed twice, removed
// ones are left out.
const benchRecords = 20_000

// stock answers lists from records that were rendered beforehand. It does not look at dates, hence every sync reads it whole.
type stock struct {
	orders, budgets [][]byte
	each            atomic.Int64 // of so many records the first says something else; 0 leaves all as they are
}

func newStock() *stock {
	p := platformtest.New(platformtest.Options{Seed: 1, Requests: benchRecords, Clock: newClock("2026-03-10T15:00:00Z").now})
	s := &stock{}
	for rec := range p.Records(platformtest.ResourceOrders) {
		s.orders = append(s.orders, rec.JSON)
	}
	for rec := range p.Records(platformtest.ResourceBudgets) {
		s.budgets = append(s.budgets, rec.JSON)
	}
	return s
}

var pageBuffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

func (s *stock) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	var list [][]byte
	switch {
	case req.URL.Query().Get("removed") == "true":
	case strings.Contains(req.URL.Path, "/requests/order/"):
		list = s.orders
	case strings.Contains(req.URL.Path, "/requests/budget/"):
		list = s.budgets
	}
	at, each := pageOf(req), int(s.each.Load())
	b := pageBuffers.Get().(*bytes.Buffer)
	defer pageBuffers.Put(b)
	b.Reset()
	b.WriteString(`{"data":[`)
	from, to := min(max(0, at.start()), len(list)), min(max(0, at.end()), len(list))
	for i, record := range list[from:to] {
		if i > 0 {
			b.WriteByte(',')
		}
		if each > 0 && (from+i)%each == 0 {
			record = bytes.Replace(record, []byte(`"name":"`), []byte(`"name":"another `), 1)
		}
		b.Write(record)
	}
	fmt.Fprintf(b, `],"totalItems":%d}`, len(list))
	w.Header().Set("Content-Length", strconv.Itoa(b.Len()))
	_, _ = w.Write(b.Bytes())
}

const stockName = "pull-stock"

// beStock serves the stock in a process of its own, so that what is measured is the reader alone. It says where on its standard output, takes
// the numbers for each from its standard input, and ends with that.
func beStock() error {
	s := newStock()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	go func() { _ = http.Serve(l, s) }()
	fmt.Println("http://" + l.Addr().String())
	orders := bufio.NewScanner(os.Stdin)
	for orders.Scan() {
		each, err := strconv.ParseInt(orders.Text(), 10, 64)
		if err != nil {
			return err
		}
		s.each.Store(each)
		fmt.Println("done")
	}
	return orders.Err()
}

// stockServer is the process that serves the stock.
type stockServer struct {
	url  string
	in   io.Writer
	said *bufio.Scanner
}

func startStock(b *testing.B) *stockServer {
	b.Helper()
	self, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Args, cmd.Stderr = []string{stockName}, os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := in.Close(); err != nil {
			b.Error(err)
		}
		if err := cmd.Wait(); err != nil {
			b.Error(err)
		}
	})
	s := &stockServer{in: in, said: bufio.NewScanner(out)}
	s.url = s.answer(b)
	return s
}

func (s *stockServer) answer(b *testing.B) string {
	b.Helper()
	if !s.said.Scan() {
		b.Fatal("the process that serves the stock has ended: ", s.said.Err())
	}
	return s.said.Text()
}

// change lets every so many-th record say something else from now on, or none.
func (s *stockServer) change(b *testing.B, each int) {
	b.Helper()
	if _, err := fmt.Fprintln(s.in, each); err != nil {
		b.Fatal(err)
	}
	s.answer(b)
}
