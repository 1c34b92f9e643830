package export

import (
	"encoding/json"
	"fmt"
	"io"
	"reflect"

	"github.com/parquet-go/parquet-go"

	"github.com/murksim/murksim/engine"
)

// A parquetSink writes a table, column by column, in groups of rows.
type parquetSink struct {
	filesOnly
	out    *parquet.GenericWriter[any]
	plan   *Plan
	table  *table
	values []parquet.Value
	rows   uint64
	group  int // rows of the group that is being written
}

// mostRows is how many rows a group may have; the writer holds one group in memory.
const mostRows = 256 << 10

func openParquet(to File, p *Plan, _ Ticks, _ Look) (Sink, error) {
	s := &parquetSink{plan: p, table: p.newTable()}
	options := []parquet.WriterOption{
		s.schema(),
		parquet.Compression(&parquet.Zstd),
		parquet.CreatedBy("murksim", "", ""),
		parquet.MaxRowsPerRowGroup(mostRows + block),
	}
	for i := range p.fields {
		f := &p.fields[i]
		if f.def.Unit != "" {
			options = append(options, parquet.KeyValueMetadata("unit."+f.name, f.def.Unit))
		}
		if len(f.values) > 0 {
			names, err := json.Marshal(f.values)
			if err != nil {
				return nil, err
			}
			options = append(options, parquet.KeyValueMetadata("values."+f.name, string(names)))
		}
	}
	s.out = parquet.NewGenericWriter[any](struct{ io.Writer }{to}, options...)
	return s, nil
}

// schema has the columns in their order. A schema made of a map would sort them.
func (s *parquetSink) schema() *parquet.Schema {
	types := [...]reflect.Type{
		float32s: reflect.TypeFor[float32](), float64s: reflect.TypeFor[float64](),
		int32s: reflect.TypeFor[int32](), uint64s: reflect.TypeFor[uint64](), texts: reflect.TypeFor[string](),
	}
	var row []reflect.StructField
	for i := range s.table.columns {
		c := &s.table.columns[i]
		tag := c.name
		if c.typ == texts {
			tag += ",dict"
		}
		row = append(row, reflect.StructField{
			Name: fmt.Sprintf("Column%d", i), Type: types[c.typ], Tag: reflect.StructTag(fmt.Sprintf("parquet:%q", tag)),
		})
	}
	return parquet.NewSchema("rows", parquet.SchemaOf(reflect.New(reflect.StructOf(row)).Interface()))
}

// Add implements [Sink].
func (s *parquetSink) Add(w *engine.World) error { return s.plan.rows(w, s.table, s.emit) }

func (s *parquetSink) emit() error {
	for i, column := range s.out.ColumnWriters() {
		s.values = s.table.columns[i].appendValues(s.values[:0], i)
		if _, err := column.WriteRowValues(s.values); err != nil {
			return err
		}
	}
	s.rows += uint64(s.table.rows)
	if s.group += s.table.rows; s.group < mostRows {
		return nil
	}
	s.group = 0
	return s.out.Flush()
}

func (c *tableColumn) appendValues(dst []parquet.Value, column int) []parquet.Value {
	add := func(v parquet.Value) { dst = append(dst, v.Level(0, 0, column)) }
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

// Close implements [Sink].
func (s *parquetSink) Close() error { return s.out.Close() }

// Summary implements [Sink].
func (s *parquetSink) Summary() string { return tableSummary(s.rows, s.table) }
