package export

import (
	"fmt"
	"io"
	"reflect"
	"slices"

	"github.com/parquet-go/parquet-go"
)

// A parquetWriter writes a table, column by column, in groups of rows.
type parquetWriter struct {
	out    *parquet.GenericWriter[any]
	values []parquet.Value
	group  int // rows of the group that is being written
	most   int // that it may have
}

// mostRows is how many rows a group may have; the writer holds one group in memory.
const mostRows = 256 << 10

func newParquetWriter(to io.Writer, t *table, notes []pair) (tableWriter, error) {
	options := []parquet.WriterOption{
		parquetSchema(t),
		parquet.Compression(&parquet.Zstd),
		parquet.CreatedBy("murksim", "", ""),
		parquet.MaxRowsPerRowGroup(mostRows + block),
	}
	ofColumns, err := t.notes()
	if err != nil {
		return nil, err
	}
	for _, n := range slices.Concat(notes, ofColumns) {
		options = append(options, parquet.KeyValueMetadata(n.key, n.value))
	}
	return &parquetWriter{out: parquet.NewGenericWriter[any](struct{ io.Writer }{to}, options...), most: mostRows}, nil
}

// parquetSchema has the columns in their order. A schema made of a map would sort them.
func parquetSchema(t *table) *parquet.Schema {
	types := [...]reflect.Type{
		float32s: reflect.TypeFor[float32](), float64s: reflect.TypeFor[float64](),
		int32s: reflect.TypeFor[int32](), uint64s: reflect.TypeFor[uint64](), texts: reflect.TypeFor[string](),
	}
	var row []reflect.StructField
	for i := range t.columns {
		c := &t.columns[i]
		tag := c.name
		if c.typ == texts {
			tag += ",dict"
		}
		if c.optional {
			tag += ",optional"
		}
		row = append(row, reflect.StructField{
			Name: fmt.Sprintf("Column%d", i), Type: types[c.typ], Tag: reflect.StructTag(fmt.Sprintf("parquet:%q", tag)),
		})
	}
	return parquet.NewSchema("rows", parquet.SchemaOf(reflect.New(reflect.StructOf(row)).Interface()))
}

func (w *parquetWriter) write(t *table) error {
	for i, column := range w.out.ColumnWriters() {
		w.values = t.columns[i].appendValues(w.values[:0], i)
		if _, err := column.WriteRowValues(w.values); err != nil {
			return err
		}
	}
	if w.group += t.rows; w.group < w.most {
		return nil
	}
	w.group = 0
	return w.out.Flush()
}

func (c *tableColumn) appendValues(dst []parquet.Value, column int) []parquet.Value {
	level := 0 // of a value that is there
	if c.optional {
		level = 1
	}
	add := func(v parquet.Value) {
		if c.null(len(dst)) {
			dst = append(dst, parquet.NullValue().Level(0, 0, column))
			return
		}
		dst = append(dst, v.Level(0, level, column))
	}
	switch c.typ {
	case float32s:
		for _, v := range c.float32s {
			add(parquet.FloatValue(v))
		}
	case float64s:
		for _, v := range c.float64s {
			add(parquet.DoubleValue(v))
		}
	case int32s:
		for _, v := range c.int32s {
			add(parquet.Int32Value(v))
		}
	case uint64s:
		for _, v := range c.uint64s {
			add(parquet.Int64Value(int64(v)))
		}
	default:
		for _, v := range c.texts {
			add(parquet.ByteArrayValue([]byte(v)))
		}
	}
	return dst
}

func (w *parquetWriter) close() error { return w.out.Close() }
