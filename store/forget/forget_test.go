package forget

import (
	"bytes"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rs/zerolog"

	"solarmirror/schema"
	"solarmirror/store"
	"solarmirror/store/marts"
	"solarmirror/store/sqlitefile"
	"solarmirror/store/storetest"
)

// TestForget erases a person who bought in one request, sells in another and is mentioned in more.
// It compares the rows and searches the files for the person's values.
func TestForget(t *testing.T) {
	t.Parallel()
	path := mirrorPath(t)
	m, err := store.Open(t.Context(), path, store.Options{Now: fixedClock})
	must(t, err)
	ctx := t.Context()
	exec := func(statements ...string) {
		for _, s := range statements {
			execute(t, m, s)
		}
	}
	exec(
		// 1: the person's own company sells to another customer. A colleague added the request, the
		// person is responsible.
		`INSERT INTO requests (request_key, request_type, id, name, final_value, added_by_name, added_by_email, responsible_name, responsible_email, notes, extra)
			VALUES (1, 'order', 'a', 'Projeto Zulmira', 100, 'Colega', 'colega@example.com', 'Zulmira', 'ZULMIRA@example.com', 'ligar para Zulmira', '{"/x":"Zulmira"}')`,
		`INSERT INTO request_companies (request_key, cpf, main_contact_name, main_contact_email, address_city) VALUES (1, '529.982.247-25', 'Zulmira', 'zulmira@example.com', 'Natal')`,
		`INSERT INTO request_invoices (request_key, cpf, razao_social, email) VALUES (1, '111.444.777-35', 'Cliente', 'cliente@example.com')`,
		`INSERT INTO request_freights (request_key, price, address_patio) VALUES (1, 7, 'Rua do Cliente')`,
		// 2: the person is the customer of another company.
		`INSERT INTO requests (request_key, request_type, id, name, final_value) VALUES (2, 'budget', 'b', 'Projeto Zulmira', 200)`,
		`INSERT INTO request_companies (request_key, cnpj, company_name) VALUES (2, '11.222.333/0001-81', 'Sol Ltda')`,
		`INSERT INTO request_invoices (request_key, cpf, razao_social, email) VALUES (2, '52998224725', 'Zulmira', 'z.casa@example.com')`,
		`INSERT INTO request_freights (request_key, price, address_patio) VALUES (2, 8, 'Rua da Zulmira')`,
		`INSERT INTO request_custom_form (request_key, position, question, answer) VALUES (2, 1, 'Quem?', 'Zulmira')`,
		// 3: another company's. The person is mentioned and added the request.
		`INSERT INTO requests (request_key, request_type, id, name, notes, added_by_name, added_by_email, added_by_cellphone) VALUES (3, 'order', 'c', 'Projeto Outro', 'indicado por 52998224725', 'Zulmira', 'z.casa@example.com', '(84) 90000-0000')`,
		// 4: without the person.
		`INSERT INTO requests (request_key, request_type, id, name, notes) VALUES (4, 'order', 'd', 'Projeto Quatro', 'nada')`,
		`INSERT INTO _runs (run_id, command, trigger, started_at, outcome) VALUES (1, 'sync', 'manual', '2026-01-01 00:00:00.000', 'ok')`,
		`INSERT INTO _rejects (stream, source, reason, raw, raw_hash, run_id, first_seen_at) VALUES
			('orders', '/', 'no id', CAST('{"cpf":"529.982.247-25","n":"Zulmira"}' AS BLOB), x'01', 1, '2026-01-01 00:00:00.000'),
			('orders', '/', 'no id', CAST('{"email":"Z.Casa@example.com","n":"Zulmira"}' AS BLOB), x'02', 1, '2026-01-01 00:00:00.000'),
			('orders', '/', 'no id', CAST('{"cpf":"111.444.777-35"}' AS BLOB), x'03', 1, '2026-01-01 00:00:00.000')`,
		`INSERT INTO request_products (request_key, position, name, product_code) VALUES (4, 1, 'kit para zulmira@example.com', 'K1')`,
		`INSERT INTO _drift (stream, path, kind, example, occurrences, first_seen_at, last_seen_at) VALUES
			('orders', '/customForm/529.982.247-25', 'unknown', NULL, 1, '2026-01-01 00:00:00.000', '2026-01-01 00:00:00.000'),
			('orders', '/x', 'unknown', '"zulmira@example.com"', 1, '2026-01-01 00:00:00.000', '2026-01-01 00:00:00.000'),
			('orders', '/y', 'unknown', '{"nick":"Zulmira"}', 1, '2026-01-01 00:00:00.000', '2026-01-01 00:00:00.000')`,
		`INSERT INTO company_creations (intent_id, outbox_id, tax_id_masked, email_masked, state, attempts, revision, created_at, error) VALUES
			('mine', 1, '***.982.***-**', 'z***@example.com', 'pending', 0, 3, '2026-01-01 00:00:00.000', 'x'),
			('old', 2, '***.982.***-**', 'z***@example.com', 'done', 1, 3, '2026-01-01 00:00:00.000', NULL),
			('other', 3, '***.444.***-**', 'c***@example.com', 'done', 1, 3, '2026-01-01 00:00:00.000', NULL)`,
		`UPDATE requests SET _hash = x'0102' WHERE request_key = 1`,
	)
	must(t, marts.Refresh(ctx, m))
	if n := storetest.Number(t, m.Reader(), "SELECT count(*) FROM bi_sellers WHERE seller_name = 'Zulmira'"); n != 1 {
		t.Fatalf("%d rows about the person in bi_sellers: nothing to forget there", n)
	}
	done, err := Person(ctx, m, "529.982.247-25", []string{"mine"}, 0)
	must(t, err)
	if len(done) == 0 {
		t.Fatal("nothing is reported")
	}
	for query, want := range map[string]string{
		"SELECT group_concat(coalesce(name, '-') || ' ' || coalesce(final_value, '-'), ', ') FROM requests":                                       "- 100.0, - 200.0, Projeto Outro -, Projeto Quatro -",
		"SELECT group_concat(coalesce(notes, '-') || coalesce(extra, '-'), ', ') FROM requests":                                                   "--, --, --, nada-",
		"SELECT group_concat(coalesce(added_by_name, '-') || coalesce(added_by_cellphone, '-') || coalesce(responsible_name, '-')) FROM requests": "Colega--,---,---,---",
		"SELECT group_concat(coalesce(cpf, '-') || coalesce(cnpj, '-') || coalesce(address_city, '-')) FROM request_companies":                    "--Natal,-11.222.333/0001-81-",
		"SELECT group_concat(coalesce(cpf, '-') || coalesce(razao_social, '-')) FROM request_invoices":                                            "111.444.777-35Cliente,--",
		"SELECT group_concat(price || coalesce(address_patio, '-')) FROM request_freights":                                                        "7.0Rua do Cliente,8.0-",
		"SELECT coalesce(name, '-') || product_code FROM request_products":                                                                        "-K1",
		"SELECT group_concat(CAST(raw AS TEXT)) FROM _rejects":                                                                                    `{"cpf":"111.444.777-35"}`,
		"SELECT group_concat(coalesce(example, '-')) FROM _drift":                                                                                 "-,-",
		"SELECT group_concat(intent_id || state || revision || coalesce(tax_id_masked, '-')) FROM company_creations":                              "minecancelled4-,olddone3-,otherdone3***.444.***-**",
		"SELECT group_concat(coalesce(name, '-') || coalesce(company_tax_id, '-')) FROM bi_requests":                                              "--,-11.222.333/0001-81,Projeto Outro-,Projeto Quatro-",
		"SELECT group_concat(coalesce(seller_name, '-') || orders) FROM bi_sellers":                                                               "-3",
		"SELECT group_concat(request_key || _erased_at) FROM requests":                                                                            fmt.Sprintf("1%[1]s,2%[1]s,3%[1]s,4%[1]s", sqlitefile.FormatTime(start)),
		"SELECT hex(_hash) FROM requests WHERE request_key = 1":                                                                                   "0102",
	} {
		var got string
		must(t, m.Reader().GetContext(ctx, &got, query))
		if got != want {
			t.Errorf("%s\n  is   %s\n  want %s", query, got, want)
		}
	}
	storetest.Sound(t, m.Reader())
	for _, history := range schema.HistoryTables {
		if columns := personalColumns(history); len(columns) > 0 {
			t.Errorf("%s has personal columns, and Person blanks none of a request's history: %v", history.Name, columns)
		}
	}
	again, err := Person(ctx, m, "52998224725", nil, 0)
	if err != nil || !cmp.Equal(again, []Change(nil)) {
		t.Errorf("a second time: %v, %v", again, err)
	}
	must(t, m.Close())
	for _, trace := range []string{"zulmira", "529.982.247-25", "52998224725", "z.casa", "90000-0000"} {
		if n := storetest.Traces(t, path, trace); n > 0 {
			t.Errorf("%d traces of %q", n, trace)
		}
	}
}

// TestForgetInOwnMarts: tables of own marts are built anew without the person; one that cannot be
// built any more is dropped, since it would keep the person.
func TestForgetInOwnMarts(t *testing.T) {
	t.Parallel()
	path, dir := mirrorPath(t), t.TempDir()
	file := func(name, sql string) { must(t, os.WriteFile(filepath.Join(dir, name), []byte(sql), 0o600)) }
	m, err := store.Open(t.Context(), path, store.Options{Now: fixedClock, OwnMarts: store.OwnMarts{Dir: dir, Timeout: time.Minute}})
	must(t, err)
	execute(t, m,
		"INSERT INTO requests (request_key, request_type, id, code, notes) VALUES (1, 'order', 'a', 'C1', 'ligar para Zulmira, 529.982.247-25')",
		"INSERT INTO request_companies (request_key, cpf, main_contact_name) VALUES (1, '529.982.247-25', 'Zulmira')")
	file("a.sql", "SELECT code, notes FROM requests")
	file("b.sql", "SELECT upper(main_contact_name) AS quem FROM request_companies")
	must(t, marts.Refresh(t.Context(), m))
	if n := storetest.Number(t, m.Reader(), "SELECT (SELECT count(*) FROM my_a WHERE notes LIKE '%Zulmira%') + (SELECT count(*) FROM my_b WHERE quem = 'ZULMIRA')"); n != 2 {
		t.Fatalf("%d rows about the person: nothing to forget", n)
	}
	file("b.sql", "SELECT nada FROM request_companies")
	_, err = Person(t.Context(), m, "529.982.247-25", nil, 0)
	must(t, err)
	for query, want := range map[string]int64{
		"SELECT count(*) FROM my_a WHERE code = 'C1' AND notes IS NULL": 1,
		"SELECT count(*) FROM sqlite_master WHERE name = 'my_b'":        0,
		"SELECT count(*) FROM _own_marts":                               2,
	} {
		if n := storetest.Number(t, m.Reader(), query); n != want {
			t.Errorf("%s: %d, want %d", query, n, want)
		}
	}
	must(t, m.Close())
	for _, trace := range []string{"zulmira", "529.982.247-25"} {
		if n := storetest.Traces(t, path, trace); n > 0 {
			t.Errorf("%d traces of %q", n, trace)
		}
	}
}

// TestForgetEscapedNumber: a tax number with an escaped slash is found.
func TestForgetEscapedNumber(t *testing.T) {
	t.Parallel()
	m := openMirror(t, mirrorPath(t))
	must(t, m.Update(t.Context(), func(tx *store.Tx) error {
		_, err := tx.Reject(store.Reject{Stream: "orders", Raw: []byte(`{"cnpj":"11.222.333\/0001-81"}`)})
		return err
	}))
	_, err := Person(t.Context(), m, "11222333000181", nil, 0)
	must(t, err)
	if n := storetest.Number(t, m.Reader(), "SELECT count(*) FROM _rejects"); n != 0 {
		t.Errorf("%d rejects hold the number", n)
	}
}

// readForever keeps a read transaction open. A child process runs it.
func readForever(path string) error {
	db, err := sql.Open("sqlite", "file:"+path+"?mode=ro")
	if err != nil {
		return err
	}
	db.SetMaxOpenConns(1)
	for _, statement := range []string{"BEGIN", "SELECT count(*) FROM requests"} {
		if _, err := db.Exec(statement); err != nil {
			return err
		}
	}
	fmt.Println("ready")
	time.Sleep(time.Hour) // until killed; "select {}" would count as a deadlock
	return nil
}

// TestForgetUnderAReader: while another process has a read transaction open, Person fails and names
// the process. The mirror stays usable, and the first Open after that process has exited finishes
// the erasure.
func TestForgetUnderAReader(t *testing.T) {
	t.Parallel()
	path := mirrorPath(t)
	open := func(log *bytes.Buffer) *store.Mirror {
		m, err := store.Open(t.Context(), path, store.Options{Now: fixedClock, Log: zerolog.New(log)})
		must(t, err)
		return m
	}
	log := &bytes.Buffer{}
	m := open(log)
	for _, statement := range []string{
		`INSERT INTO requests (request_key, request_type, id, name) VALUES (1, 'order', 'a', 'Projeto Zulmira')`,
		`INSERT INTO request_companies (request_key, cpf, main_contact_name) VALUES (1, '529.982.247-25', 'Zulmira')`,
	} {
		execute(t, m, statement)
	}
	must(t, m.Close())
	reader := startChild(t, "read", path)
	m = open(log)
	done, err := Person(t.Context(), m, "52998224725", nil, 0)
	var still *store.StillReadError
	if !errors.As(err, &still) || len(done) == 0 {
		t.Fatalf("with a reader: %v, %v", done, err)
	}
	if who := fmt.Sprintf("process %d", reader.Process.Pid); runtime.GOOS == "linux" && !strings.Contains(err.Error(), who) {
		t.Errorf("%v does not name %s", err, who)
	}
	must(t, m.Close())
	log.Reset()
	must(t, open(log).Close()) // cannot finish the erasure either
	if !strings.Contains(log.String(), "old copies of erased rows are still in the file") {
		t.Errorf("the start says %s", log)
	}
	if storetest.Traces(t, path, "zulmira") == 0 {
		t.Fatal("the reader holds nothing back")
	}
	must(t, reader.Process.Kill())
	_ = reader.Wait()
	must(t, open(log).Close())
	if n := storetest.Traces(t, path, "zulmira") + storetest.Traces(t, path, "529.982.247-25"); n > 0 {
		t.Errorf("%d traces after the next start", n)
	}
	log.Reset()
	must(t, open(log).Close())
	if log.Len() > 0 {
		t.Errorf("another start says %s", log)
	}
}

// TestForgetWaitsForAReader: Person waits for a reader that ends before the timeout.
func TestForgetWaitsForAReader(t *testing.T) {
	t.Parallel()
	path := mirrorPath(t)
	m, err := store.Open(t.Context(), path, store.Options{Now: fixedClock})
	must(t, err)
	execute(t, m, `INSERT INTO requests (request_key, request_type, id, notes) VALUES (1, 'order', 'a', 'Zulmira, 52998224725')`)
	reader := startChild(t, "read", path)
	end := time.AfterFunc(time.Second, func() { _ = reader.Process.Kill() })
	defer end.Stop()
	_, err = Person(t.Context(), m, "52998224725", nil, 20*time.Second)
	must(t, errors.Join(err, m.Close()))
	if n := storetest.Traces(t, path, "zulmira"); n > 0 {
		t.Errorf("%d traces", n)
	}
}
