package flatten

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"solarmirror/schema"
)

// Rebuild is the inverse of flattening: it makes a record's JSON of the rows of exactly one record, its root row among them, as the
// flattener made them or as they were read back from the database. Columns that are NULL give nothing; what stands in extra is put
// back at its pointers, over the column's value where there are both, since extra has it as it was written. Members are in the order of
// their names. Rows that no record can have flattened to are an error.
func Rebuild(rows []schema.Rows) ([]byte, error) {
	root, err := findRoot(rows)
	if err != nil {
		return nil, fmt.Errorf("rebuilding a record: %w", err)
	}
	record, err := rebuild(root, rows)
	if err != nil {
		return nil, fmt.Errorf("rebuilding a record of %s: %w", root.Table.Name, err)
	}
	return record, nil
}

func findRoot(rows []schema.Rows) (*schema.Rows, error) {
	i := slices.IndexFunc(rows, func(r schema.Rows) bool { return r.Table.Shape == schema.Root })
	if i < 0 {
		return nil, fmt.Errorf("no root table among the rows")
	}
	if n := rows[i].Len(); n != 1 {
		return nil, fmt.Errorf("%d rows of %s in place of one", n, rows[i].Table.Name)
	}
	return &rows[i], nil
}

func rebuild(root *schema.Rows, rows []schema.Rows) ([]byte, error) {
	r := &rebuilder{rows: map[string]*schema.Rows{}, arrays: map[string]bool{}, record: newBranch(false)}
	for i := range rows {
		r.rows[rows[i].Table.Name] = &rows[i]
		r.left += rows[i].Len()
	}
	r.findArrays(root.Table, "")
	if err := r.element(root.Table, "", root.Row(0), nil); err != nil {
		return nil, err
	}
	if r.left > 0 {
		return nil, fmt.Errorf("%d rows belong to no other row", r.left)
	}
	if err := r.putExtra(root); err != nil {
		return nil, err
	}
	return appendJSON(nil, r.record)
}

// rebuilder grows a record value by value, each put at its JSON Pointer.
type rebuilder struct {
	rows   map[string]*schema.Rows // by table name
	left   int                     // rows not used yet
	arrays map[string]bool         // pointers of all arrays, with * for every element
	record *branch
}

// branch is an object, or an array whose members are named by index. A member is a *branch or a jsontext.Value.
type branch struct {
	array   bool
	members map[string]any
}

func newBranch(array bool) *branch { return &branch{array, map[string]any{}} }

func (r *rebuilder) findArrays(t *schema.Table, at string) {
	at += t.Path
	if t.Shape == schema.Many {
		r.arrays[at] = true
		at += "/*"
	}
	for _, a := range t.Arrays {
		r.arrays[a.Path] = true
	}
	for _, c := range t.Children {
		r.findArrays(c, at)
	}
}

// element puts a row's values below the pointer of its object, and then the rows under it. Positions are those of the arrays
// around it.
func (r *rebuilder) element(t *schema.Table, pointer string, row []any, positions []int64) error {
	r.left--
	if pointer != "" { // an object is there even if all of it is NULL
		around, name, err := r.descend(pointer)
		if err != nil {
			return err
		}
		if _, err := around.branch(name, false); err != nil {
			return err
		}
	}
	for i, c := range t.Columns {
		if c.Path == "" || row[i] == nil || row[i] == "" && slices.Contains(t.Unique, c.Name) {
			continue // a key column is '' where the record has nothing
		}
		if err := r.putColumn(t, &c, pointer+c.Path, row[i]); err != nil {
			return err
		}
	}
	for _, child := range t.Children {
		if err := r.child(child, pointer, positions); err != nil {
			return err
		}
	}
	return nil
}

// child puts all rows of a table that lie under the element at the pointer.
func (r *rebuilder) child(t *schema.Table, pointer string, positions []int64) error {
	rows := r.rows[t.Name]
	if rows == nil {
		return nil
	}
	for i := range rows.Len() {
		if err := r.childRow(t, pointer, rows.Row(i), positions); err != nil {
			return err
		}
	}
	return nil
}

func (r *rebuilder) childRow(t *schema.Table, pointer string, row []any, positions []int64) error {
	switch t.Shape {
	case schema.One:
		return r.element(t, pointer+t.Path, row, positions)
	case schema.Values:
		i := slices.IndexFunc(t.Arrays, func(a schema.Array) bool { return a.Name == row[1] })
		if i < 0 {
			return fmt.Errorf("%s has no values named %v", t.Name, row[1])
		}
		return r.listElement(t, t.Arrays[i].Path, row)
	}
	for i, want := range positions {
		if row[1+i] != want {
			return nil // under another element
		}
	}
	position, err := lastPosition(t, row)
	if err != nil {
		return err
	}
	if elementColumn(t) >= 0 {
		return r.listElement(t, pointer+t.Path, row)
	}
	return r.element(t, indexed(pointer+t.Path, position), row, append(slices.Clone(positions), position))
}

// listElement puts a row of a list of scalars.
func (r *rebuilder) listElement(t *schema.Table, pointer string, row []any) error {
	r.left--
	position, err := lastPosition(t, row)
	if err != nil {
		return err
	}
	c := elementColumn(t)
	return r.putColumn(t, &t.Columns[c], indexed(pointer, position), row[c])
}

func lastPosition(t *schema.Table, row []any) (int64, error) {
	position, ok := row[len(t.Key)-1].(int64)
	if !ok || position < 1 {
		return 0, fmt.Errorf("%s has the position %v", t.Name, row[len(t.Key)-1])
	}
	return position, nil
}

func indexed(pointer string, position int64) string {
	return pointer + "/" + strconv.FormatInt(position-1, 10)
}

func (r *rebuilder) putColumn(t *schema.Table, c *schema.Column, pointer string, value any) error {
	raw, err := columnJSON(c, value)
	if err != nil {
		return fmt.Errorf("%s.%s: %w", t.Name, c.Name, err)
	}
	return r.put(pointer, raw)
}

// putExtra puts what the columns could not hold.
func (r *rebuilder) putExtra(root *schema.Rows) error {
	i := slices.Index(root.Table.ColumnNames(), "extra")
	if i < 0 || root.Row(0)[i] == nil {
		return nil
	}
	extra, ok := root.Row(0)[i].(string)
	if !ok {
		return fmt.Errorf("extra is a %T", root.Row(0)[i])
	}
	err := extraMembers(extra, func(pointer string, raw jsontext.Value) error {
		return r.put(pointer, raw.Clone())
	})
	if err != nil {
		return fmt.Errorf("extra: %w", err)
	}
	return nil
}

// put sets the value at a pointer.
func (r *rebuilder) put(pointer string, value jsontext.Value) error {
	around, name, err := r.descend(pointer)
	if err != nil {
		return err
	}
	around.members[name] = value
	return nil
}

// descend returns the branch that a pointer's last step is taken from, and that step. It makes what is missing on the way.
func (r *rebuilder) descend(pointer string) (at *branch, step string, err error) {
	if !strings.HasPrefix(pointer, "/") {
		return nil, "", fmt.Errorf("%q is no pointer to a part of the record", pointer)
	}
	at, path := r.record, ""
	steps := strings.Split(pointer[1:], "/")
	for i := 0; ; i++ {
		step = unescape.Replace(steps[i])
		switch {
		case !at.array:
			path += "/" + steps[i]
		case isIndex(step):
			path += "/*"
		default: // an object stood in place of the array: its only element
			steps = slices.Insert(steps, i, "0")
			step, path = "0", path+"/*"
		}
		if i == len(steps)-1 {
			return at, step, nil
		}
		if at, err = at.branch(step, r.arrays[path]); err != nil {
			return nil, "", fmt.Errorf("%s: %w", pointer, err)
		}
	}
}

// branch returns the member of that name, made if need be.
func (b *branch) branch(name string, array bool) (*branch, error) {
	switch m := b.members[name].(type) {
	case nil:
		made := newBranch(array)
		b.members[name] = made
		return made, nil
	case *branch:
		return m, nil
	}
	return nil, fmt.Errorf("%q has a value of its own as well as parts", name)
}

// unescape turns a step of a JSON Pointer into the name it stands for.
var unescape = strings.NewReplacer("~1", "/", "~0", "~")

// columnJSON writes a column's value as the platform's interface documents it.
func columnJSON(c *schema.Column, value any) (jsontext.Value, error) {
	switch v := value.(type) {
	case nil:
		return jsontext.Value("null"), nil
	case float64:
		return strconv.AppendFloat(nil, v, 'g', -1, 64), nil
	case int64:
		if c.Type != schema.Boolean {
			return strconv.AppendInt(nil, v, 10), nil
		}
		if v == 0 || v == 1 {
			return strconv.AppendBool(nil, v == 1), nil
		}
	case string:
		if c.Type != schema.Timestamp {
			return jsontext.AppendQuote(nil, v)
		}
		if len(v) == len(TimestampLayout) {
			return timestampJSON(c, v), nil
		}
	}
	return nil, fmt.Errorf("%v (%T) is no %s", value, value, c.Type)
}

func timestampJSON(c *schema.Column, v string) jsontext.Value {
	iso := v[:10] + "T" + v[11:]
	if c.Local {
		return jsontext.Value(`"` + strings.TrimSuffix(iso, ":00.000") + `"`)
	}
	return jsontext.Value(`"` + iso + `Z"`)
}

// appendJSON writes a branch or value. An array must be without gaps.
func appendJSON(dst []byte, value any) ([]byte, error) {
	b, ok := value.(*branch)
	if !ok {
		return append(dst, value.(jsontext.Value)...), nil
	}
	if b.array {
		return b.appendArray(dst)
	}
	return b.appendObject(dst)
}

func (b *branch) appendArray(dst []byte) ([]byte, error) {
	dst = append(dst, '[')
	for i := range len(b.members) {
		element, ok := b.members[strconv.Itoa(i)]
		if !ok {
			return nil, fmt.Errorf("an array of %d elements has no element %d", len(b.members), i)
		}
		if i > 0 {
			dst = append(dst, ',')
		}
		var err error
		if dst, err = appendJSON(dst, element); err != nil {
			return nil, err
		}
	}
	return append(dst, ']'), nil
}

func (b *branch) appendObject(dst []byte) ([]byte, error) {
	dst = append(dst, '{')
	for i, name := range slices.Sorted(maps.Keys(b.members)) {
		if i > 0 {
			dst = append(dst, ',')
		}
		var err error
		if dst, err = jsontext.AppendQuote(dst, name); err != nil {
			return nil, err
		}
		if dst, err = appendJSON(append(dst, ':'), b.members[name]); err != nil {
			return nil, err
		}
	}
	return append(dst, '}'), nil
}
