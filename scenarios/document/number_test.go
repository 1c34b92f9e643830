package document_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/murksim/murksim/scenarios/document"
)

// TestFloatsThatAreWritten: what AppendFloat writes is read as the same number, in every bit. Other whole numbers must be exact.
func TestFloatsThatAreWritten(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	numbers := []float64{0, math.Copysign(0, -1), 1, 1e-6, 1e-7, 1 << 53, 1<<53 + 2, 1.2345678901234567e20, math.Nextafter(1e21, 0), 1e21, 1e22, math.MaxFloat64, 5e-324}
	for range 20_000 {
		numbers = append(numbers, math.Exp(random.Float64()*90-20), math.Trunc(math.Exp(random.Float64()*12+36.7)))
	}
	for _, v := range numbers {
		for _, v := range []float64{v, -v} {
			text := string(document.AppendFloat(nil, v))
			n := &document.Node{Kind: document.Scalar, Raw: text, Source: &document.Source{Name: "a.yaml"}}
			if got, err := n.Float(); err != nil || math.Float64bits(got) != math.Float64bits(v) {
				t.Errorf("%s: %v, %v", text, got, err)
			}
		}
	}
	for _, text := range []string{"9007199254740993", "-9007199254740993", "123456789012345670001", "12345678901234567000.0e1"} {
		n := &document.Node{Kind: document.Scalar, Raw: text, Source: &document.Source{Name: "a.yaml"}}
		if got, err := n.Float(); (err == nil) != (text == "12345678901234567000.0e1") {
			t.Errorf("%s: %v, %v", text, got, err)
		}
	}
}
