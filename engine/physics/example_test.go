package physics_test

import (
	"fmt"

	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/engine/physics"
	"github.com/murksim/murksim/exact/fixed"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/space"
)

// A ball falls onto a ramp, rolls down and comes to rest on the plain.
func Example() {
	const x, y, height, vx, vy, vz, ground = 0, 1, 2, 3, 4, 5, 6
	_, _, cell := engine.EntityColumns(7)
	c := engine.Config{
		Space: space.Square4{Rows: 1, Cols: 8}, Capacity: 1,
		Systems: []engine.System{&physics.System{
			Name: "balls", X: x, Y: y, Height: height, VX: vx, VY: vy, VZ: vz, Ground: ground, Cell: cell,
			Fall:    physics.Fall{Gravity: fixed.One / 40},
			Surface: physics.Surface{Restitution: fixed.One / 2, Friction: fixed.One / 8},
		}},
	}
	for _, name := range []string{"x", "y", "height", "vx", "vy", "vz"} {
		c.Fields = append(c.Fields, fields.Def{Name: name, Element: fields.Fixed, Domain: fields.Entities})
	}
	ramp := fields.Values([]float64{2, 1.5, 1, 0.5, 0, 0, 0, 0})
	c.Fields = append(c.Fields, fields.Def{Name: "ground", Element: fields.Fixed, Initial: ramp})
	w, err := engine.New(c)
	if err != nil {
		fmt.Println(err)
		return
	}
	w.Submit(commands.Spawn(space.At(0, 1), commands.FieldValue{Field: height, Value: 3}))
	for range 121 {
		if w.Tick()%20 == 1 {
			fmt.Printf("tick %3d: x %.3f, height %.3f, speed %.3f\n", w.Tick(), w.Value(x, 0), w.Value(height, 0), w.Value(vx, 0))
		}
		if _, err := w.Step(); err != nil {
			fmt.Println(err)
			return
		}
	}
	// Output:
	// tick   1: x 1.500, height 2.988, speed 0.000
	// tick  21: x 2.736, height 1.000, speed 0.124
	// tick  41: x 6.537, height 0.000, speed 0.175
	// tick  61: x 7.437, height 0.000, speed -0.041
	// tick  81: x 7.173, height 0.000, speed 0.000
	// tick 101: x 7.173, height 0.000, speed 0.000
}

// The vertical step alone serves whoever has grounds of its own.
func ExampleFall_Step() {
	fall := physics.Fall{Gravity: fixed.One / 8, Terminal: fixed.One}
	var m fixed.Calc
	height, speed := 3*fixed.One, fixed.Fixed(0)
	for range 3 {
		height, speed = fall.Step(&m, height, speed)
		fmt.Println(height, speed)
	}
	fmt.Println(m.Err())
	// Output:
	// 2.9375 -0.125
	// 2.75 -0.25
	// 2.4375 -0.375
	// <nil>
}
