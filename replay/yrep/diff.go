package yrep

import (
	"io"
	"slices"

	"github.com/murksim/murksim/internal/jsonlines"
)

// A Difference is where two files begin to differ. An empty value stands for what one of them does not have.
type Difference struct {
	Frame int32  // 0: of headers
	Index int    // of the instruction in the frame, from 0
	Name  string // of the instruction; "" outside of one
	Field string // of the instruction or the header; "frame" if one file has fewer, "instruction" if it is another one
	A, B  string // values, as JSON
}

// CompareHeaders returns in what the headers of two files differ, apart from the dialect.
func CompareHeaders(a, b *Reader) (list []Difference) {
	for _, h := range [...]Difference{
		{Field: "protocol", A: string(jsonlines.AppendString(nil, a.Header.Protocol)), B: string(jsonlines.AppendString(nil, b.Header.Protocol))},
		{Field: "metadata", A: string(appendMetadata(nil, a.Header.Metadata)), B: string(appendMetadata(nil, b.Header.Metadata))},
	} {
		if h.A != h.B {
			list = append(list, h)
		}
	}
	return list
}

// Compare reads the frames of two files, and returns where they begin to differ, nil if they do not, and how many
// frames are equal. The dialects make no difference. An error is of the file whose number it returns, 0 or 1.
func Compare(a, b *Reader) (d *Difference, frames int32, failed int, err error) {
	var f [2]Frame
	for {
		var ended [2]bool
		for n, r := range [...]*Reader{a, b} {
			if err := r.Next(&f[n]); err == io.EOF {
				ended[n] = true
			} else if err != nil {
				return nil, frames, n, err
			}
		}
		switch {
		case ended[0] && ended[1]:
			return nil, frames, 0, nil
		case ended[0]:
			return &Difference{Frame: frames + 1, Field: "frame", B: "there"}, frames, 0, nil
		case ended[1]:
			return &Difference{Frame: frames + 1, Field: "frame", A: "there"}, frames, 0, nil
		}
		if d := compareFrames(&f[0], &f[1]); d != nil {
			d.Frame = frames + 1
			return d, frames, 0, nil
		}
		frames++
	}
}

// compareFrames returns the first difference of two frames.
func compareFrames(a, b *Frame) *Difference {
	var p [2]printer
	for n := range max(len(a.Instructions), len(b.Instructions)) {
		d := &Difference{Index: n, Field: "instruction"}
		if n < len(a.Instructions) {
			d.A = a.Instructions[n].ID.String()
			p[0].fields(&a.Instructions[n])
		}
		if n < len(b.Instructions) {
			d.B = b.Instructions[n].ID.String()
			p[1].fields(&b.Instructions[n])
		}
		if d.Name = d.A; d.A != d.B {
			if d.Name == "" {
				d.Name = d.B
			}
			return d
		}
		for k, field := range p[0].names {
			d.Field, d.A, d.B = field, string(p[0].value(k)), ""
			if other := slices.Index(p[1].names, field); other >= 0 {
				d.B = string(p[1].value(other))
			}
			if d.A != d.B {
				return d
			}
		}
		for k, field := range p[1].names {
			if !slices.Contains(p[0].names, field) {
				return &Difference{Index: n, Name: d.Name, Field: field, B: string(p[1].value(k))}
			}
		}
	}
	return nil
}
