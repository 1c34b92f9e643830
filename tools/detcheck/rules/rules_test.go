package rules_test

import (
	"os"
	"strings"
	"testing"

	"golang.org/x/tools/go/analysis/analysistest"

	"github.com/murksim/murksim/tools/detcheck/rules"
)

// Every folder of the test data breaks a rule in many ways, each marked by a comment,
// and comes near to it in others.
func TestRules(t *testing.T) {
	folders, err := os.ReadDir("testdata/src")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, f := range folders {
		if strings.HasSuffix(f.Name(), ".com") {
			continue // stand-ins for modules
		}
		t.Run(f.Name(), func(t *testing.T) {
			for _, result := range analysistest.Run(t, analysistest.TestData(), rules.Analyzer, f.Name()) {
				for _, d := range result.Diagnostics {
					rule, _ := rules.Split(d.Message)
					if rule != d.Category {
						t.Errorf("the message %q has the category %q", d.Message, d.Category)
					}
					seen[rule] = true
				}
			}
		})
	}
	for _, r := range rules.All {
		if !seen[r.Name] {
			t.Errorf("the test data do not break the rule %s", r.Name)
		}
	}
}
