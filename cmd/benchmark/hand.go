package main

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"time"

	"solarmirror/schema"
)

// loadByHand is the program that a user would write in an afternoon: page after page, decoded into structs, one prepared INSERT per row, a
// transaction per page; what the children of a request were is deleted first.
func loadByHand(t task) (got outcome, err error) {
	db, fresh, err := openPlain(t.DB)
	if err != nil {
		return got, err
	}
	if fresh {
		if err := makeIndices(db); err != nil {
			return got, err
		}
	}
	p, err := newHandProgram(db)
	if err != nil {
		return got, err
	}
	for _, kind := range []string{"order", "budget"} {
		n, err := p.readList(t.URL, kind)
		if err != nil {
			return got, err
		}
		got.Records += n
	}
	if err := closePlain(db); err != nil {
		return got, err
	}
	got.Load = used()
	return got, nil
}

// handProgram holds its prepared statements.
type handProgram struct {
	db      *sql.DB
	upsert  *sql.Stmt
	inserts map[string]*sql.Stmt // by table
	deletes []*sql.Stmt
}

func newHandProgram(db *sql.DB) (p *handProgram, err error) {
	p = &handProgram{db: db, inserts: map[string]*sql.Stmt{}}
	for _, t := range tables()[1:] {
		insert, err := db.Prepare(insertSQL(t, t.ColumnNames(), 1))
		if err != nil {
			return nil, err
		}
		remove, err := db.Prepare("DELETE FROM " + t.Name + " WHERE request_key = ?")
		if err != nil {
			return nil, err
		}
		p.inserts[t.Name], p.deletes = insert, append(p.deletes, remove)
	}
	var columns []string
	for _, c := range schema.Requests.ColumnNames() {
		if !slices.Contains([]string{"request_key", "extra", "_hash", "_deleted_at", "_erased_at"}, c) {
			columns = append(columns, c)
		}
	}
	upsert := upsertSQL(insertSQL(schema.Requests, columns, 1), "request_type, id", columns, "request_type", "id", "_first_seen_at")
	p.upsert, err = db.Prepare(upsert + " RETURNING request_key")
	return p, err
}

func (p *handProgram) readList(url, kind string) (records int64, err error) {
	for page := 1; ; page++ {
		answer, err := http.Get(fmt.Sprintf("%s/api/v2/requests/%s/%d/%d", url, kind, page, pageSize))
		if err != nil {
			return records, err
		}
		var got handPage
		err = json.NewDecoder(answer.Body).Decode(&got)
		_ = answer.Body.Close()
		if err != nil {
			return records, err
		}
		if err := p.writePage(kind, got.Data.Items); err != nil {
			return records, err
		}
		records += int64(len(got.Data.Items))
		if len(got.Data.Items) < pageSize {
			return records, nil
		}
	}
}

func (p *handProgram) writePage(kind string, items []handRequest) error {
	tx, err := p.db.Begin()
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	w := &handWriter{tx: tx, upsert: tx.Stmt(p.upsert), inserts: map[string]*sql.Stmt{}}
	for name, s := range p.inserts {
		w.inserts[name] = tx.Stmt(s)
	}
	for _, s := range p.deletes {
		w.deletes = append(w.deletes, tx.Stmt(s))
	}
	at := time.Now().UTC().Format(storedTime)
	for i := range items {
		if w.write(kind, at, &items[i]); w.err != nil {
			return w.err
		}
	}
	return tx.Commit()
}

const storedTime = "2006-01-02 15:04:05.000"

// storedTimestamp brings one of the platform's times to the form of the tables.
func storedTimestamp(layout string, s *string) any {
	if s == nil {
		return nil
	}
	t, err := time.Parse(layout, *s)
	if err != nil {
		return nil
	}
	return t.UTC().Format(storedTime)
}

func storedInstant(s *string) any { return storedTimestamp(time.RFC3339, s) }

// handWriter writes the requests of one page.
type handWriter struct {
	tx      *sql.Tx
	upsert  *sql.Stmt
	inserts map[string]*sql.Stmt
	deletes []*sql.Stmt
	err     error // the first
}

func (w *handWriter) insert(table string, values ...any) {
	if w.err == nil {
		_, w.err = w.inserts[table].Exec(values...)
	}
}

func (w *handWriter) write(kind, at string, r *handRequest) {
	var key int64
	w.err = w.upsert.QueryRow(
		kind, r.ID, r.Name, r.Code, r.Kind, r.TotalPower, storedInstant(r.BudgetCreated), storedInstant(r.OrderCreated),
		r.DealStatus, r.StockStatus, r.OriginalValue, r.Discount, r.Surcharge, r.FinalValue, r.Difference, r.Notes,
		r.AddedBy.Name, r.AddedBy.Surname, r.AddedBy.Email, r.AddedBy.Cellphone,
		r.Responsible.Name, r.Responsible.Surname, r.Responsible.Email, r.Responsible.Cellphone,
		r.APISent, storedInstant(r.APISentUpdated), r.BillingDate, r.Removed, at, at,
	).Scan(&key)
	for _, s := range w.deletes {
		if w.err == nil {
			_, w.err = s.Exec(key)
		}
	}
	w.payment(key, r.Payment)
	if c := r.Company; c != nil {
		a := c.Address
		w.insert("request_companies", key, c.CNPJ, c.CPF, c.FantasyName, c.CompanyName,
			c.MainContact.Name, c.MainContact.Surname, c.MainContact.Email, c.MainContact.Cellphone,
			a.CEP, a.State, a.City, a.Neighborhood, a.Patio, a.Number, a.Complement)
	}
	for i, p := range r.Products {
		w.insert("request_products", key, i+1, p.Type, p.ProductCode, p.Name, p.Quantity, p.SinglePrice, p.TotalPrice,
			p.Structure.Name, p.Structure.Type, p.Structure.Amount, p.Structure.Price, p.Center.Name, p.Center.Code)
	}
	for i, f := range r.Files {
		w.insert("request_files", key, i+1, f.Category)
		for j, name := range f.UploadedFiles {
			w.insert("request_uploaded_files", key, i+1, j+1, name)
		}
	}
	for i, a := range r.CustomForm {
		w.insert("request_custom_form", key, i+1, a.Question, a.Answer)
	}
	for i, s := range r.Structure {
		w.insert("request_structures", key, i+1, s.Kind)
		for j, a := range s.Arrangements {
			w.insert("request_arrangements", key, i+1, j+1, a.LinesAmount, a.ModulesByLine, a.Orientation)
		}
	}
	w.delivery(key, r)
	for i, c := range r.CustomData {
		w.insert("request_custom_data", key, i+1, c.Key, c.Value, c.Type)
	}
}

func (w *handWriter) payment(key int64, p *handPayment) {
	if p == nil {
		return
	}
	c, card := p.Condition, p.CreditCard
	w.insert("request_payments", key, p.Type, c.Name, c.Installments, c.ConditionType, c.ModifierType, c.Value, p.Status, p.Description,
		p.TransactionStatus, p.TransactionID, p.AuthorizationNSU, p.AuthorizationCode, storedTimestamp("2006-01-02T15:04", p.PaidAt),
		card.Brand, card.Last4Digits, card.First6Digits, card.HolderName)
	for i, f := range p.Files {
		w.insert("request_payment_files", key, i+1, f.Path, f.OriginalName)
	}
}

func (w *handWriter) delivery(key int64, r *handRequest) {
	if f := r.Freight; f != nil {
		a := f.Address
		w.insert("request_freights", key, f.Type, f.ZoneType, f.TimeRestriction, f.TruckPossible, f.Price,
			f.IntegrationData.ID, f.IntegrationData.Name, f.IntegrationData.LogisticProviderName,
			a.CEP, a.State, a.City, a.Neighborhood, a.Patio, a.Number, a.Complement, a.PatioFormatted, a.PatioType)
	}
	if v := r.Invoice; v != nil {
		a := v.Address
		w.insert("request_invoices", key, v.RazaoSocial, v.NomeFantasia, v.CNPJ, v.CPF, v.RG, v.IE, v.TemInscricaoEstadual, v.Telephone, v.Email,
			v.OriginalValue, v.ServiceToAddValue, v.RequestedValue,
			a.CEP, a.State, a.City, a.Neighborhood, a.Patio, a.Number, a.Complement, a.PatioFormatted, a.PatioType)
	}
}
