package export

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/cespare/xxhash/v2"

	"solarmirror/schema"
	"solarmirror/store"
)

// noMonth is the name Hive gave the partition of NULL, and readers know.
const noMonth = "__HIVE_DEFAULT_PARTITION__"

var monthForm = regexp.MustCompile(`^\d{4}-\d{2}$`)

// source is the snapshot an export is made from, and what was found out about its records.
type source struct {
	snapshot *store.Snapshot
	baseURL  string
	records  map[*schema.Table]records // that a table's rows belong to; the ledger and the marts have none
}

// records is what lies in each month: fingerprints, and of records with a time of creation their
// keys.
type records struct {
	prints map[string]string
	keys   map[string][]int64 // nil of others
	whole  bool               // they have no months
}

// months returns the months in order; at least one, so that every table has a file.
func (r records) months() []string {
	if len(r.prints) == 0 {
		return []string{noMonth}
	}
	return slices.Sorted(maps.Keys(r.prints))
}

// fingerprint is that of all months together. It differs from that of any month, being made
// from them.
func (r records) fingerprint() string {
	digest := xxhash.New()
	for _, month := range slices.Sorted(maps.Keys(r.prints)) {
		fmt.Fprintf(digest, "%s=%s;", month, r.prints[month])
	}
	return text(digest)
}

func text(d *xxhash.Digest) string { return fmt.Sprintf("%016x", d.Sum64()) }

const (
	metaSQL = `SELECT coalesce(base_url, ''), coalesce(promotion, ''), +created_at FROM _meta`
	// recordsSQL takes the root, its key and when its records were created. The sign keeps the driver from reading times.
	recordsSQL = `SELECT substr(%[3]s, 1, 7), %[2]s, +_changed_at, +_deleted_at, +_first_seen_at, _hash FROM %[1]s ORDER BY %[2]s`
	// historySQL takes the table and its key. Intervals are added and closed, and not otherwise changed.
	historySQL = `SELECT substr(valid_from, 1, 7), count(*), count(valid_to), max(+valid_from), max(+valid_to),
		total(%[2]s), total(iif(valid_to IS NULL, 0, %[2]s)) FROM %[1]s GROUP BY 1 ORDER BY 1`
)

// createdSQL is when a record of a root was created, as its stream declares; "" where no stream
// does.
func createdSQL(root *schema.Table) string {
	var created strings.Builder
	for _, s := range schema.Streams {
		if s.Root != root || s.Created == nil {
			continue
		}
		of := "true"
		if s.Partition != "" {
			of = fmt.Sprintf("%s = '%s'", root.Unique[0], s.Partition)
		}
		fmt.Fprintf(&created, "WHEN %s THEN coalesce(%s, NULL) ", of, strings.Join(s.Created, ", "))
	}
	if created.Len() == 0 {
		return ""
	}
	return "CASE " + created.String() + "END"
}

// tables lists what can be exported, in order.
func (s *source) tables() []*schema.Table { return schema.All() }

// newSource reads what every record says of itself.
func newSource(ctx context.Context, snapshot *store.Snapshot) (*source, error) {
	s := &source{snapshot: snapshot, records: map[*schema.Table]records{}}
	var epoch string
	for row, err := range s.query(ctx, metaSQL) {
		if err != nil {
			return nil, err
		}
		s.baseURL, _ = row[0].(string)
		epoch = fmt.Sprint(schema.Version, snapshot.Layout(), row)
	}
	for _, root := range schema.Roots() {
		created := createdSQL(root)
		found, err := s.fingerprint(ctx, epoch, created != "", fmt.Sprintf(recordsSQL, root.Name, root.Key[0], cmp.Or(created, "NULL")))
		if err != nil {
			return nil, err
		}
		found.whole = created == ""
		for _, t := range root.Tables() {
			s.records[t] = found
		}
	}
	for _, t := range schema.HistoryTables {
		found := s.records[t.Of]
		if found.whole {
			var err error
			if found, err = s.fingerprint(ctx, epoch, false, fmt.Sprintf(historySQL, t.Name, t.Key[0])); err != nil {
				return nil, err
			}
		}
		s.records[t] = found
	}
	return s, nil
}

// fingerprint digests the rows of a query by the month in their first column; keyed ones have their key in the second.
func (s *source) fingerprint(ctx context.Context, epoch string, keyed bool, query string) (records, error) {
	found, digests := records{prints: map[string]string{}}, map[string]*xxhash.Digest{}
	if keyed {
		found.keys = map[string][]int64{}
	}
	for row, err := range s.query(ctx, query) {
		if err != nil {
			return records{}, err
		}
		month, _ := row[0].(string)
		if !monthForm.MatchString(month) {
			month = noMonth
		}
		digest := digests[month]
		if digest == nil {
			digest = xxhash.New()
			digests[month] = digest
			fmt.Fprint(digest, epoch)
		}
		for _, v := range row {
			fmt.Fprintf(digest, "%v\x00", v)
		}
		if keyed {
			found.keys[month] = append(found.keys[month], row[1].(int64))
		}
	}
	for month, digest := range digests {
		found.prints[month] = text(digest)
	}
	return found, nil
}

// query yields the rows of a statement. The context is looked at between rows: a driver that watches it costs half the speed.
func (s *source) query(ctx context.Context, query string, args ...any) iter.Seq2[[]any, error] {
	return func(yield func([]any, error) bool) {
		result, err := s.snapshot.Query(context.WithoutCancel(ctx), query, args...)
		if err != nil {
			yield(nil, err)
			return
		}
		// What can go wrong has been told by the rows.
		defer func() { _ = result.Close() }()
		for row, err := range result.Rows() {
			if err == nil {
				err = ctx.Err()
			}
			if !yield(row, err) || err != nil {
				return
			}
		}
	}
}
