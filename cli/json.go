package cli

import (
	"fmt"
	"strconv"

	"github.com/murksim/murksim/internal/session"
	"github.com/murksim/murksim/replay"
)

// docs/JSON.md lists the objects that --json prints.

// A whole is an integer of JSON, a number up to 2^53. Above that it is a string of its
// digits, because JavaScript and others would round the number. So do recordings as JSON
// lines.
type whole uint64

// MarshalJSON implements [json.Marshaler].
func (n whole) MarshalJSON() ([]byte, error) {
	b := strconv.AppendUint(nil, uint64(n), 10)
	if n > 1<<53 {
		b = append(append([]byte{'"'}, b...), '"')
	}
	return b, nil
}

// A buildView is a build, with the keys that it has in a recording as JSON lines.
type buildView struct {
	Toolchain string `json:"toolchain"`
	Target    string `json:"target"`
	Version   string `json:"engine_version"`
	Flags     string `json:"compiler_flags"`
}

func viewBuild(b replay.Build) buildView { return buildView{b.Toolchain, b.Target, b.Version, b.Flags} }

// An errorObject is the last line of a command that fails.
type errorObject struct {
	Event string `json:"event"` // "error"
	Error string `json:"error"`
	Code  string `json:"code,omitempty"`
}

// A startObject is the first line of a run.
type startObject struct {
	Event        string `json:"event"` // "start"
	Scenario     string `json:"scenario"`
	Seed         whole  `json:"seed"`
	PlannedTicks uint64 `json:"planned_ticks"`
	Space        string `json:"space"`
	Fields       int    `json:"fields"`
	Propagators  int    `json:"propagators"`
	Systems      int    `json:"systems"`
	Dropped      int64  `json:"dropped_bytes,omitempty"` // of the recording that the run goes on with
	Kept         string `json:"kept_in,omitempty"`       // the file that has them
	otherBuild
	session.BeginView
}

// An otherBuild says who recorded what a run goes on with, if that is another build than this one. Of a database only the version is known.
type otherBuild struct {
	Recorded buildView `json:"recorded_with,omitzero"`
	GoesOn   buildView `json:"goes_on_with,omitzero"`

	line string
}

func newOtherBuild(recorded, now replay.Build) otherBuild {
	if recorded == now {
		return otherBuild{}
	}
	return otherBuild{viewBuild(recorded), viewBuild(now), fmt.Sprintf("builds    recorded by %s, goes on with %s", session.DescribeBuild(recorded), session.DescribeBuild(now))}
}

// A scenarioObject is one of the scenarios that come with murksim.
type scenarioObject struct {
	Event string `json:"event"` // "scenario"
	Name  string `json:"name"`
	About string `json:"about"`
	YAML  string `json:"yaml,omitempty"`
}

// A fileObject is a file that new wrote.
type fileObject struct {
	Event string `json:"event"` // "file"
	Name  string `json:"name"`
	File  string `json:"file"`
}

// A versionObject is what version prints.
type versionObject struct {
	Event string `json:"event"` // "version"
	buildView
	Rules      []string `json:"rules"`
	Components []string `json:"components"`
}
