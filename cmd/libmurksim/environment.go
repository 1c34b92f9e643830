package main

import (
	"cmp"
	"encoding/json"
	"math"
	"os"
	"unsafe"

	"github.com/murksim/murksim/cli"
	"github.com/murksim/murksim/engine/observe"
	"github.com/murksim/murksim/environment"
)

// A batch is the resource of murksim_env_open.
type batch struct {
	*environment.Batch
	about   *batchAbout
	choices []int64   // the bound actions, if they are discrete
	numbers []float32 // or continuous
	painter painter
}

func (*batch) close() {}

// A batchAbout is the description of environments.
type batchAbout struct {
	*about
	Worlds      int              `json:"worlds"`
	FirstWorld  uint64           `json:"first_world"`
	Agents      []string         `json:"agents"`
	Choices     []string         `json:"choices"`
	Controls    []string         `json:"controls"`
	Low         []float32        `json:"low"`
	High        []float32        `json:"high"`
	Steps       uint64           `json:"steps"`
	Observation observationAbout `json:"observation"`
}

type observationAbout struct {
	DType      string      `json:"dtype"`
	Length     int         `json:"length"`
	MaskLength int         `json:"mask_length"`
	Shape      []int       `json:"shape"`
	Parts      []partAbout `json:"parts"`
}

type partAbout struct {
	Name   string   `json:"name"`
	Shape  []int    `json:"shape"`
	Offset int      `json:"offset"`
	Length int      `json:"length"`
	Low    *float64 `json:"low"`
	High   *float64 `json:"high"`
}

// openBatch makes the worlds of a batch, which may take so much memory each.
func openBatch(name string, sets []string, c environment.Config, maxMemory uint64) (*batch, error) {
	var err error
	if c.Scenario, err = (cli.Program{}).Scenario(name, sets, maxMemory); err != nil {
		return nil, err
	}
	b, err := environment.New(c)
	if err != nil {
		return nil, err
	}
	w := b.World(0)
	a, err := aboutWorld(c.Scenario, defsOf(w))
	if err != nil {
		return nil, err
	}
	l := b.Layout()
	about := &batchAbout{about: a, Worlds: b.Worlds(), FirstWorld: c.First, Agents: l.Agents, Steps: l.Steps}
	about.Choices, about.Controls = append([]string{}, l.Choices...), append([]string{}, l.Controls...) // a list is never null
	about.Low, about.High = append([]float32{}, l.Low...), append([]float32{}, l.High...)
	about.Observation = aboutObservation(l.Observation)
	return &batch{Batch: b, about: about}, nil
}

func aboutObservation(p *observe.Plan) observationAbout {
	a := observationAbout{Length: p.Len(), MaskLength: p.MaskLen(), Shape: p.Shape()}
	a.DType = map[observe.Element]string{observe.Float32: "float32", observe.Uint8: "uint8", observe.Float16: "float16"}[p.Element()]
	for _, x := range p.Parts() {
		a.Parts = append(a.Parts, partAbout{x.Name, append([]int{}, x.Shape...), x.Offset, x.Len, finite(x.Low), finite(x.High)})
	}
	return a
}

// finite returns nil for what JSON cannot hold.
func finite(v float64) *float64 {
	if math.IsInf(v, 0) || math.IsNaN(v) {
		return nil
	}
	return &v
}

func (b *batch) text() (text, error) { return json.Marshal(b.about) }

// tensors are the buffers of C.
type tensors struct {
	actions, observations, final, mask, rewards, terminated, truncated, alive, began, steps, returns []byte
}

// bind binds the buffers of C.
func (b *batch) bind(t *tensors) (err error) {
	var e environment.Tensors
	var choices []int64
	var numbers []float32
	actors := b.Worlds() * len(b.about.Agents)
	switch element := b.Layout().Observation.Element(); element {
	case observe.Float32:
		err = cmp.Or(slice(&e.Float32, "observations", t.observations), slice(&e.FinalFloat32, "final_observations", t.final))
	case observe.Uint8:
		e.Uint8, e.FinalUint8 = t.observations, t.final
	case observe.Float16:
		err = cmp.Or(slice(&e.Float16, "observations", t.observations), slice(&e.FinalFloat16, "final_observations", t.final))
	}
	e.Mask, e.Terminated, e.Truncated, e.Alive, e.Began = t.mask, t.terminated, t.truncated, t.alive, t.began
	err = cmp.Or(err, slice(&e.Rewards, "rewards", t.rewards), slice(&e.Steps, "steps", t.steps), slice(&e.Returns, "returns", t.returns))
	if n := len(b.about.Controls); n > 0 {
		err = cmp.Or(err, slice(&numbers, "actions", t.actions), has("actions", len(numbers), actors*n))
	} else {
		err = cmp.Or(err, slice(&choices, "actions", t.actions), has("actions", len(choices), actors))
	}
	if err = cmp.Or(err, b.Batch.Bind(&e)); err == nil {
		b.choices, b.numbers = choices, numbers
	}
	return err
}

func has(name string, got, want int) error {
	if got == want {
		return nil
	}
	return &environment.ShapeError{Name: name, Got: got, Want: want}
}

// slice sets a slice to the memory of a buffer.
func slice[T int64 | uint64 | float64 | float32 | uint16](to *[]T, name string, from []byte) error {
	if len(from) == 0 {
		return nil
	}
	size := int(unsafe.Sizeof((*to)[0]))
	if len(from)%size != 0 || uintptr(unsafe.Pointer(&from[0]))%uintptr(size) != 0 {
		return badArgument("%s must be a whole number of elements of %d bytes, and lie at a multiple of that", name, size)
	}
	*to = unsafe.Slice((*T)(unsafe.Pointer(&from[0])), len(from)/size)
	return nil
}

func (b *batch) step() error {
	if b.numbers != nil {
		return b.StepContinuous(b.numbers)
	}
	return b.StepDiscrete(b.choices)
}

func (b *batch) policy() error {
	switch {
	case b.numbers != nil:
		return b.PolicyContinuous(b.numbers)
	case b.choices != nil:
		return b.Policy(b.choices)
	}
	return badArgument("no tensors are bound")
}

// world returns an error unless there is such a world.
func (b *batch) world(i int32) error {
	if i < 0 || int(i) >= b.Worlds() {
		return notFound("there is no world %d; there are %d", i, b.Worlds())
	}
	return nil
}

func (b *batch) save(world int32, path string) error {
	if err := b.world(world); err != nil {
		return err
	}
	return b.Save(int(world), path)
}

func (b *batch) recordEvery(every uint64, folder string) error {
	if every > 0 {
		if info, err := os.Stat(folder); err != nil {
			return err
		} else if !info.IsDir() {
			return badArgument("%s is no folder", folder)
		}
		b.RecordEvery(every, folder)
		return nil
	}
	b.RecordWhen(nil)
	return nil
}

func (b *batch) picture(world, field, cell int32, low, high float64, to []byte) error {
	if err := cmp.Or(b.world(world), b.about.drawable(field)); err != nil {
		return err
	}
	s := b.Scenario(int(world))
	if err := fitsPicture(s, cell, to); err != nil {
		return err
	}
	return b.painter.draw(s, b.World(int(world)), field, cell, low, high, to)
}
