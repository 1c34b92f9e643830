package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/murksim/murksim/internal/files"
	"github.com/murksim/murksim/internal/report"
	"github.com/murksim/murksim/internal/session"
	"github.com/murksim/murksim/internal/words"
	"github.com/murksim/murksim/replay/yrep"
)

// A playJob plays a YREP file.
type playJob struct {
	*app
	yrep           yrepFlags
	from, to       uint64
	hasFrom, hasTo bool
	speed          string
	despiteErrors  bool
	all            bool

	playback *yrep.Playback
	events   []json.RawMessage // of the last frame entered
	texts    []string          // the same for people
}

func (a *app) playCommand() *cobra.Command {
	j := &playJob{app: a}
	c := &cobra.Command{
		Use:   "play FILE",
		Short: "Show the state after a frame of a YREP file",
		Long: `Play applies the frames of a YREP file and shows the state after one of them: who is there,
where, with what, and which blocks have changed; and the events of that frame, such as chat.
Without --frame, this is the last frame. Frame 0 is the state before the first frame.

With --from it plays from the state after one frame to the state after another, and prints
the events of every frame that it enters. Playing backward prints no events. --speed plays
in real time, at 20 frames a second times a whole number or a fraction.

A file with semantic errors, such as a player who is added twice, is refused; inspect lists
them. A YREP file says what happened but not why, so it cannot be verified. Play does not
take games of MineWars: use inspect or view for a file, and join for a game that is being
served.

Exit status: 0 the state is shown, 1 the file is damaged, has semantic errors or no such frame.`,
		Example: `  murksim play match.yrep
  murksim play match.yrep --frame 440
  murksim play match.yrep --from 400 --frame 440
  murksim play match.yrep --from 0 --speed 2
  murksim play match.yrep --frame 440 --json | jq .state.entities`,
		Args: arguments(cobra.ExactArgs(1), "one YREP file"),
		RunE: func(c *cobra.Command, args []string) error {
			j.hasFrom, j.hasTo = c.Flags().Changed("from"), c.Flags().Changed("frame")
			ctx, stop := j.untilSignal(c.Context())
			defer stop()
			return j.run(ctx, args[0])
		},
	}
	f := c.Flags()
	f.Var((*tickFlag)(&j.to), "frame", "the frame after which the state is shown (default the last)")
	f.Var((*tickFlag)(&j.from), "from", "play from the state after this frame, and print events")
	f.StringVar(&j.speed, "speed", "", "play in real time, such as 1, 5 or 1/3")
	f.BoolVar(&j.despiteErrors, "despite-errors", false, "play a file that has semantic errors")
	allFlag(f, &j.all)
	j.yrep.add(f)
	return c
}

// A playResult is what play prints with --json.
type playResult struct {
	Event   string            `json:"event"` // "play"
	File    string            `json:"file"`
	Dialect string            `json:"dialect"`
	Frame   int32             `json:"frame"`
	Frames  int32             `json:"frames"`
	Events  []json.RawMessage `json:"events"` // of that frame
	State   *yrep.State       `json:"state"`
}

// A playedFrame is a frame that was entered, with --json and --from.
type playedFrame struct {
	Event  string            `json:"event"` // "frame"
	Frame  int32             `json:"frame"`
	Events []json.RawMessage `json:"events"`
}

func (j *playJob) run(ctx context.Context, name string) error {
	o, err := j.yrep.options()
	if err != nil {
		return err
	}
	speed, err := j.parseSpeed()
	if err != nil {
		return err
	}
	in, _, done, err := j.openYREP(ctx, name)
	if err != nil {
		return words.About(name, err)
	}
	defer done()
	if err := j.open(name, in, o); err != nil {
		return err
	}
	p := j.playback
	frames := uint64(p.Frames())
	if !j.hasTo {
		j.to = frames
	}
	for _, frame := range []uint64{j.from, j.to} {
		if frame > frames {
			return fmt.Errorf("%s: it has no frame %s; it ends with frame %s", words.Argument(name), words.Number(frame), words.Number(frames))
		}
	}
	if !j.hasFrom {
		err = j.show(int32(j.to))
	} else if err = p.Seek(int32(j.from)); err == nil {
		err = j.walk(ctx, speed)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", words.Argument(name), err)
	}
	return j.print(name)
}

// parseSpeed checks the flags; without --speed it returns nil.
func (j *playJob) parseSpeed() (*yrep.Speed, error) {
	if j.speed == "" {
		return nil, nil
	}
	j.hasFrom = true
	s, err := yrep.ParseSpeed(j.speed)
	if err != nil {
		return nil, report.Usage("--speed must be a whole number or a fraction, such as 5 or 1/3, not %q", j.speed)
	}
	return s, nil
}

// open reads the file once and refuses one that cannot be played.
func (j *playJob) open(name string, in io.ReadSeeker, o yrep.Options) (err error) {
	var first *yrep.Finding
	wrong := 0
	j.playback, err = yrep.NewPlayback(in, o, func(f yrep.Finding) {
		if f.Kind.Semantic() {
			if wrong++; first == nil {
				first = &f
			}
		}
	})
	if err != nil {
		return fmt.Errorf("%w%s", words.About(name, err), j.playHint(name, o, err))
	}
	if first != nil && !j.despiteErrors {
		return fmt.Errorf("%s: it has %s; the first is %s\n  play it nevertheless with --despite-errors; %s inspect %s lists them",
			words.Argument(name), words.Count(uint64(wrong), "semantic error"), words.Printable(first.String()), j.Name, words.Argument(name))
	}
	return nil
}

// playHint says what to do with a file that cannot be played.
func (j *playJob) playHint(name string, o yrep.Options, err error) string {
	if ours, _ := files.Begins(name, session.RecordingMark); ours && errors.Is(err, yrep.ErrMagic) {
		return fmt.Sprintf("\n  it is a recording: %s seek %s --tick N", j.Name, words.Argument(name))
	}
	if name != "-" && errors.Is(err, yrep.ErrMagic) && j.FormatOfFile(name).IsGame() {
		return fmt.Sprintf("\n  it is a game of MineWars: %s inspect %s; with --tick N, a tick of it", j.Name, words.Argument(name))
	}
	if lines, _ := files.Begins(name, yrep.LinesMark); lines {
		return fmt.Sprintf("\n  it is JSON lines; make a YREP file: %s convert %s NEW.yrep", j.Name, words.Argument(name))
	}
	return j.yrepHint(name, o, err)
}

// show goes to the state after a frame. It enters that frame by a step, so that its events are known.
func (j *playJob) show(frame int32) error {
	if err := j.playback.Seek(max(frame-1, 0)); err != nil || frame == 0 {
		return err
	}
	f, err := j.playback.Step()
	if err == nil {
		j.keep(f)
	}
	return err
}

// walk plays from the present state to the one that is asked for, at a speed or at once.
func (j *playJob) walk(ctx context.Context, speed *yrep.Speed) error {
	const tick = time.Second / 20
	to := int32(j.to)
	backward := to < j.playback.State().Frame
	if speed == nil {
		if backward {
			return j.playback.Seek(to)
		}
		for j.playback.State().Frame < to {
			f, err := j.playback.Step()
			if err == nil {
				err = j.enter(f)
			}
			if err != nil {
				return err
			}
		}
		return nil
	}
	ticker := time.NewTicker(tick)
	defer ticker.Stop()
	for j.playback.State().Frame != to {
		select {
		case <-ctx.Done():
			return fmt.Errorf("interrupted after frame %s", words.Number(uint64(j.playback.State().Frame)))
		case <-ticker.C:
		}
		if err := j.playback.Tick(speed, to, j.enter); err != nil {
			return err
		}
	}
	return nil
}

// enter prints the events of a frame.
func (j *playJob) enter(f *yrep.Frame) error {
	if j.keep(f); len(j.events) > 0 {
		if err := j.Emit(playedFrame{"frame", f.Number, j.events}); err != nil {
			return err
		}
	}
	for _, text := range j.texts {
		if err := j.Say("frame %d  %s", f.Number, text); err != nil {
			return err
		}
	}
	return nil
}

// keep keeps the events of a frame.
func (j *playJob) keep(f *yrep.Frame) {
	j.events, j.texts = []json.RawMessage{}, nil
	for n := range f.Instructions {
		if i := &f.Instructions[n]; i.IsEvent() {
			j.events, j.texts = append(j.events, i.AppendJSON(nil)), append(j.texts, j.eventText(i))
		}
	}
}

// eventText is an event for people.
func (j *playJob) eventText(i *yrep.Instruction) string {
	who := playerName(j.playback.State(), i.Tracker)
	if i.ID == yrep.PlayerChat {
		return who + ": " + words.Printable(i.Message)
	}
	var rest []string
	for name, value := range i.Fields() {
		if name != "tracker_id" {
			rest = append(rest, name+" "+fieldText(value))
		}
	}
	return strings.TrimSpace(who + "  " + i.ID.String() + "  " + strings.Join(rest, "  "))
}

// playerName is what people call an entity.
func playerName(s *yrep.State, tracker int32) string {
	if e := s.Entity(tracker); e != nil && e.Name != "" {
		return words.Printable(e.Name)
	}
	return fmt.Sprintf("tracker %d", tracker)
}

// print shows the present state.
func (j *playJob) print(name string) error {
	p := j.playback
	s := p.State()
	if j.events == nil {
		j.events = []json.RawMessage{}
	}
	if err := j.Emit(playResult{"play", name, p.Dialect.String(), s.Frame, p.Frames(), j.events, s}); err != nil || j.JSON {
		return err
	}
	var players, projectiles, blocks, events [][]string
	for _, e := range s.Entities() {
		if !e.Player {
			row := append([]string{fmt.Sprint(e.Tracker), itemText(e.Item)}, whereabouts(e)...)
			projectiles = append(projectiles, row)
			continue
		}
		players = append(players, append(append([]string{fmt.Sprint(e.Tracker), words.Printable(e.Name)}, whereabouts(e)...), doing(e)))
	}
	for at, b := range s.Blocks() {
		blocks = append(blocks, []string{fmt.Sprintf("%d %d %d", at[0], at[1], at[2]), fmt.Sprintf("material %d, data %d", b.Material, b.Data)})
	}
	if err := j.Say("%s  frame %s of %s, %g s", words.Argument(name), words.Number(uint64(s.Frame)), words.Number(uint64(p.Frames())), float64(s.Frame)/20); err != nil {
		return err
	}
	if err := errors.Join(j.section("players", len(players), players, j.all), j.section("projectiles", len(projectiles), projectiles, j.all),
		j.section("blocks", len(blocks), blocks, j.all)); err != nil || j.hasFrom {
		return err
	}
	for _, text := range j.texts {
		events = append(events, []string{text})
	}
	return j.section("events of the frame", len(events), events, j.all)
}

// whereabouts says where an entity is.
func whereabouts(e *yrep.Entity) []string {
	at := "at " + shortNumber(e.X) + " " + shortNumber(e.Y) + " " + shortNumber(e.Z)
	if !e.Alive() {
		return []string{"gone", "last " + at}
	}
	return []string{"there", at}
}

// shortNumber writes a number for people, with three decimals at most.
func shortNumber(v float64) string {
	const exact = 1 << 53 // above it there are no decimals
	if !(math.Abs(v) < exact) {
		return strconv.FormatFloat(v, 'g', -1, 64)
	}
	s := strings.TrimRight(strings.TrimRight(strconv.FormatFloat(v, 'f', 3, 64), "0"), ".")
	if s == "-0" {
		return "0"
	}
	return s
}

// fieldText is the value of an instruction's field for people.
func fieldText(value string) string {
	if v, err := strconv.ParseFloat(value, 64); err == nil && strings.ContainsAny(value, ".e") {
		return shortNumber(v)
	}
	return words.Printable(value)
}

// plainItem is an item that only has a name and a count.
var plainItem = regexp.MustCompile(`^\{id:"minecraft:([a-z0-9_]+)",Count:([0-9]+)b,Damage:0s\}$`)

// itemText describes an item for people; it leaves out what most items have in common.
func itemText(item string) string {
	m := plainItem.FindStringSubmatch(item)
	switch {
	case m == nil:
		return words.Printable(item)
	case m[2] == "1":
		return m[1]
	}
	return m[2] + " " + m[1]
}

// doing says what else a player shows.
func doing(e *yrep.Entity) string {
	var list []string
	if e.Sneaking {
		list = append(list, "sneaking")
	}
	if e.Sprinting {
		list = append(list, "sprinting")
	}
	for slot, item := range e.Inventory {
		if item != "" {
			list = append(list, strings.ToLower(yrep.SlotName(int8(slot)))+" "+itemText(item))
		}
	}
	return strings.Join(list, ", ")
}
