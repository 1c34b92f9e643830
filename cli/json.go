package cli

import (
	"fmt"

	"github.com/murksim/murksim/internal/session"
	"github.com/murksim/murksim/internal/words"
	"github.com/murksim/murksim/replay"
)

// docs/JSON.md lists the objects that --json prints.

// An errorObject is the last line of a command that fails.
type errorObject struct {
	Event string `json:"event"` // "error"
	Error string `json:"error"`
	Code  string `json:"code,omitempty"`
	Stack string `json:"stack,omitempty"` // of a panic
}

// A startObject is the first line of a run.
type startObject struct {
	Event        string      `json:"event"` // "start"
	Scenario     string      `json:"scenario"`
	Seed         words.Whole `json:"seed"`
	PlannedTicks uint64      `json:"planned_ticks"`
	Space        string      `json:"space"`
	Fields       int         `json:"fields"`
	Propagators  int         `json:"propagators"`
	Systems      int         `json:"systems"`
	Dropped      int64       `json:"dropped_bytes,omitempty"` // of the recording that the run goes on with
	Kept         string      `json:"kept_in,omitempty"`       // the file that has them
	otherBuild
	session.BeginView
}

// An otherBuild names the build that made the recording that a run continues, if it is not this one. For a database only the version is
// known.
type otherBuild struct {
	Recorded session.BuildView `json:"recorded_with,omitzero"`
	GoesOn   session.BuildView `json:"goes_on_with,omitzero"`

	line string
}

func newOtherBuild(recorded, now replay.Build) otherBuild {
	if recorded == now {
		return otherBuild{}
	}
	return otherBuild{session.ViewBuild(recorded), session.ViewBuild(now), fmt.Sprintf("builds    recorded by %s, goes on with %s", session.DescribeBuild(recorded), session.DescribeBuild(now))}
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
	session.BuildView
	Rules      []string `json:"rules"`
	Components []string `json:"components"`
}
