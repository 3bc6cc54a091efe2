package outbox

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/jmoiron/sqlx"
)

// DuplicateError says that a company with the same CPF, CNPJ or e-mail waits, is in doubt or was
// created.
type DuplicateError struct {
	Index int   // of the company among those added
	ID    int64 // the other row; 0 when it is no longer in the outbox
	State State // of the other: done, or an open one
	What  string
}

func (e *DuplicateError) Error() string {
	const allow = "or queue it with --allow-duplicate (in SQL allow_duplicate = 1) if both are meant"
	switch {
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

// rival is a company that another may be a duplicate of.
type rival struct {
	id     int64 // 0 when its row is gone
	intent string
	state  State
	tag    string // of its tax number
	email  string // "" when only the send log knows it
}

func plainEmail(address string) string { return strings.ToLower(strings.TrimSpace(address)) }

// rivals lists the companies that wait, are in doubt or were created: rows by their numbers, then
// what the send log knows.
func (o *Outbox) rivals(tx *sqlx.Tx) ([]rival, error) {
	rows, err := tx.Query(`SELECT id, intent_id, state, coalesce(CAST(cnpj AS TEXT), ''), coalesce(CAST(cpf AS TEXT), ''), coalesce(CAST(email AS TEXT), '')
		FROM company_outbox ORDER BY id`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var list []rival
	ids := map[string]int64{}
	for rows.Next() {
		var r rival
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
	log, err := o.anySends()
	if err != nil {
		return nil, err
	}
	for _, s := range log.sorted() {
		r := rival{id: ids[s.intent], intent: s.intent, state: StateAmbiguous, tag: s.tag}
		if s.event == sendCreated {
			r.state = StateDone
		}
		list = append(list, r)
	}
	return list, nil
}

// duplicateOf returns the first rival with the CPF, CNPJ or e-mail of a company; nil when there is
// none. Among pending rows the later one is the duplicate. row is the company's own; the zero row
// counts as the last.
func duplicateOf(rivals []rival, c Company, row Row) *DuplicateError {
	tag, email := taxTag(c.TaxID()), plainEmail(c.Email)
	i := slices.IndexFunc(rivals, func(r rival) bool {
		if r.intent == row.IntentID || r.state == StatePending && row.ID != 0 && r.id > row.ID {
			return false
		}
		return r.tag == tag && tag != "-" || r.email == email && email != ""
	})
	if i < 0 {
		return nil
	}
	found := &DuplicateError{ID: rivals[i].id, State: rivals[i].state, What: "e-mail"}
	if rivals[i].tag == tag {
		found.What = "CPF or CNPJ"
	}
	return found
}

// Duplicate says whether Add would refuse a company; nil when it would not.
func (o *Outbox) Duplicate(ctx context.Context, c Company) (found *DuplicateError, err error) {
	err = o.update(ctx, func(tx *sqlx.Tx) error {
		rivals, err := o.rivals(tx)
		if err == nil {
			found = duplicateOf(rivals, c, Row{})
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("look for duplicates in the outbox: %w", err)
	}
	return found, nil
}
