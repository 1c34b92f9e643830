package yaml_test

import (
	"fmt"

	"github.com/murksim/murksim/scenarios/worlds"
	"github.com/murksim/murksim/scenarios/yaml"
)

func ExampleParse() {
	_, err := yaml.Parse(worlds.Registry(), "pond.yaml", nil, []byte("murksim: 1\nname: pond\nspace: {kind: ring, lenght: 9}\n"))
	fmt.Println(err)
	// Output:
	// pond.yaml:3:21: unknown key "lenght"; did you mean "length"?
	//   2 | name: pond
	// > 3 | space: {kind: ring, lenght: 9}
	//     |                     ^
}
