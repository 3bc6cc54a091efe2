package outbox

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/jmoiron/sqlx"
)

// DuplicateError: another company with the same CPF, CNPJ or e-mail is pending, sending, ambiguous
// or created.
type DuplicateError struct {
	Entry   int    // the company's number among those added, from 1
	Earlier int    // the number of the other company if it is among those added; else 0
	ID      int64  // of the other row; 0 when it is no longer in the outbox
	State   State  // of the other row
	What    string // the common value: "e-mail" or "CPF or CNPJ"
}

func (e *DuplicateError) Error() string {
	const allow = "or queue it with --allow-duplicate (in SQL allow_duplicate = 1) if both are meant"
	switch {
	case e.Earlier > 0:
		return fmt.Sprintf("entry %d and entry %d have the same %s; leave one out, or queue both with --allow-duplicate if both are meant",
			e.Earlier, e.Entry, e.What)
	case e.ID == 0 && e.State == StateDone:
		return fmt.Sprintf("a company with the same %s was created, by a row that is no longer in the outbox; look at the platform, %s", e.What, allow)
	case e.ID == 0:
		return fmt.Sprintf("a company with the same %s was sent and may be created, by a row that is no longer in the outbox; look at the platform: "+
			"if it is not there, queue it with --allow-duplicate, or settle a row in doubt with `solarmirror outbox resolve`", e.What)
	case e.State == StateDone:
		return fmt.Sprintf("row %d of the outbox is done and has the same %s; see `solarmirror outbox show %d`, %s", e.ID, e.What, e.ID, allow)
	}
	return fmt.Sprintf("row %d of the outbox is still open and has the same %s; see `solarmirror outbox show %d`, %s", e.ID, e.What, e.ID, allow)
}

// candidate is a company that another one may duplicate.
type candidate struct {
	id     int64 // 0 when its row was deleted
	intent string
	state  State
	tag    string // of its tax number
	email  string // "" when only the send log knows it
	entry  int    // its number among the companies that are being added; 0 for others
}

func plainEmail(address string) string { return strings.ToLower(strings.TrimSpace(address)) }

// candidates returns the companies that are pending, sending, ambiguous or created: first the rows
// by id, then the sends in the log.
func (o *Outbox) candidates(tx *sqlx.Tx) ([]candidate, error) {
	rows, err := tx.Query(`SELECT id, intent_id, state, coalesce(CAST(cnpj AS TEXT), ''), coalesce(CAST(cpf AS TEXT), ''), coalesce(CAST(email AS TEXT), '')
		FROM company_outbox ORDER BY id`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var list []candidate
	ids := map[string]int64{}
	for rows.Next() {
		var r candidate
		var c Company
		if err := rows.Scan(&r.id, &r.intent, &r.state, &c.CNPJ, &c.CPF, &c.Email); err != nil {
			return nil, err
		}
		ids[r.intent] = r.id
		if r.state != StateRejected && r.state != StateCancelled {
			r.tag, r.email = taxTag(c.TaxID()), plainEmail(c.Email)
			list = append(list, r)
		}
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	log, err := o.loadSendLog()
	if err != nil {
		return nil, err
	}
	for _, s := range log.sorted() {
		r := candidate{id: ids[s.intent], intent: s.intent, state: StateAmbiguous, tag: s.tag}
		if s.event == sendCreated {
			r.state = StateDone
		}
		list = append(list, r)
	}
	return list, nil
}

// findDuplicate returns the first candidate with the CPF, CNPJ or e-mail of a company; nil without
// one. Of two pending rows the later one is the duplicate. row is the company's own row; the zero
// Row counts as the latest.
func findDuplicate(candidates []candidate, c Company, row Row) *DuplicateError {
	tag, email := taxTag(c.TaxID()), plainEmail(c.Email)
	i := slices.IndexFunc(candidates, func(r candidate) bool {
		if r.intent == row.IntentID || r.state == StatePending && row.ID != 0 && r.id > row.ID {
			return false
		}
		return r.tag == tag && tag != "-" || r.email == email && email != ""
	})
	if i < 0 {
		return nil
	}
	found := &DuplicateError{Earlier: candidates[i].entry, ID: candidates[i].id, State: candidates[i].state, What: "e-mail"}
	if candidates[i].tag == tag {
		found.What = "CPF or CNPJ"
	}
	return found
}

// findDuplicates returns an error for each company that is a duplicate of a candidate, or of an
// earlier one in companies.
func findDuplicates(candidates []candidate, companies []Company) (found []*DuplicateError) {
	for i, c := range companies {
		if duplicate := findDuplicate(candidates, c, Row{}); duplicate != nil {
			duplicate.Entry = i + 1
			found = append(found, duplicate)
		}
		candidates = append(candidates, candidate{intent: "none yet", state: StatePending, tag: taxTag(c.TaxID()), email: plainEmail(c.Email), entry: i + 1})
	}
	return found
}

// Duplicates returns the errors with which [Outbox.Add] would refuse companies.
func (o *Outbox) Duplicates(ctx context.Context, companies []Company) (found []*DuplicateError, err error) {
	err = o.update(ctx, func(tx *sqlx.Tx) error {
		candidates, err := o.candidates(tx)
		found = findDuplicates(candidates, companies)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("look for duplicates in the outbox: %w", err)
	}
	return found, nil
}
