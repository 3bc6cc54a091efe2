package export

import (
	"fmt"
	"io"
	"time"

	"github.com/parquet-go/parquet-go"

	"solarmirror/schema"
	"solarmirror/store/sqlitefile"
)

// What bounds the memory of a file being written.
const (
	rowsPerGroup       = 20_000
	rowsAtOnce         = 128
	dictionaryMaxBytes = 1 << 20 // of a column; beyond that its texts are written one by one
)

type parquetEncoder struct {
	file    *parquet.GenericWriter[any]
	columns []parquetColumn
	pending []parquet.Row
}

type parquetColumn struct {
	schema.Column
	defined int // definition level of a value
}

func newParquetEncoder(w io.Writer, t *schema.Table) encoder {
	e := &parquetEncoder{}
	group := orderedGroup{Group: parquet.Group{}}
	for _, c := range t.Columns {
		node, column := parquetNode(c), parquetColumn{Column: c}
		if nullable(t, c) {
			node, column.defined = parquet.Optional(node), 1
		}
		group.Group[c.Name] = node
		group.names = append(group.names, c.Name)
		e.columns = append(e.columns, column)
	}
	e.file = parquet.NewGenericWriter[any](w, parquet.NewSchema(t.Name, group),
		parquet.Compression(&parquet.Zstd), parquet.MaxRowsPerRowGroup(rowsPerGroup), parquet.DictionaryMaxBytes(dictionaryMaxBytes))
	return e
}

// orderedGroup is a group whose fields keep the table's order; the library's are sorted by name.
type orderedGroup struct {
	parquet.Group
	names []string
}

func (g orderedGroup) Fields() []parquet.Field {
	byName := map[string]parquet.Field{}
	for _, f := range g.Group.Fields() {
		byName[f.Name()] = f
	}
	fields := make([]parquet.Field, len(g.names))
	for i, name := range g.names {
		fields[i] = byName[name]
	}
	return fields
}

func parquetNode(c schema.Column) parquet.Node {
	switch c.Type {
	case schema.Real:
		return parquet.Leaf(parquet.DoubleType)
	case schema.BigInt, schema.Surrogate:
		return parquet.Leaf(parquet.Int64Type)
	case schema.Boolean:
		return parquet.Leaf(parquet.BooleanType)
	case schema.Date:
		return parquet.Date()
	case schema.Timestamp:
		return parquet.TimestampAdjusted(parquet.Microsecond, !c.Local)
	case schema.Blob:
		return parquet.Leaf(parquet.ByteArrayType)
	}
	return parquet.Encoded(parquet.String(), &parquet.RLEDictionary)
}

func (e *parquetEncoder) row(values []any) error {
	row := make(parquet.Row, len(values))
	for i, c := range e.columns {
		if values[i] == nil {
			row[i] = parquet.NullValue().Level(0, 0, i)
			continue
		}
		v, err := parquetValue(c.Type, values[i])
		if err != nil {
			return fmt.Errorf("column %s: %w", c.Name, err)
		}
		row[i] = v.Level(0, c.defined, i)
	}
	e.pending = append(e.pending, row)
	if len(e.pending) < rowsAtOnce {
		return nil
	}
	return e.flush()
}

func (e *parquetEncoder) flush() error {
	_, err := e.file.WriteRows(e.pending)
	clear(e.pending)
	e.pending = e.pending[:0]
	return err
}

func (e *parquetEncoder) close() error {
	if err := e.flush(); err != nil {
		return err
	}
	return e.file.Close()
}

// parquetValue reads what SQLite stored as what its column declares. SQLite would let another program store anything.
func parquetValue(t schema.Type, v any) (parquet.Value, error) {
	switch v := v.(type) {
	case string:
		switch t {
		case schema.Text:
			return parquet.ValueOf(v), nil
		case schema.Date:
			if day, err := time.Parse(time.DateOnly, v); err == nil {
				return parquet.Int32Value(int32(day.Unix() / secondsPerDay)), nil
			}
		case schema.Timestamp:
			if at, err := sqlitefile.ParseTime(v); err == nil {
				return parquet.Int64Value(at.UnixMicro()), nil
			}
		}
	case float64:
		if t == schema.Real {
			return parquet.DoubleValue(v), nil
		}
	case int64:
		switch t {
		case schema.BigInt, schema.Surrogate:
			return parquet.Int64Value(v), nil
		case schema.Boolean:
			return parquet.BooleanValue(v != 0), nil
		}
	case []byte:
		if t == schema.Blob {
			return parquet.ByteArrayValue(v), nil
		}
	}
	return parquet.Value{}, fmt.Errorf("%.60q is no %s", fmt.Sprint(v), t)
}

const secondsPerDay = 24 * 60 * 60
