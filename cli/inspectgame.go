package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math/bits"
	"slices"
	"strings"

	"github.com/murksim/murksim/internal/files"
	"github.com/murksim/murksim/internal/session"
	"github.com/murksim/murksim/internal/words"
	"github.com/murksim/murksim/replay/minewars"
	"github.com/murksim/murksim/scenarios"
	"github.com/murksim/murksim/scenarios/document"
)

// A gameInspection tells what happened in a game of MineWars.
type gameInspection struct {
	*inspectJob
	names  []string
	part   int // of names, that is read
	stream bool
	lines  *minewars.LineWriter // with --json

	start  minewars.Start
	boards [minewars.MaxPlayers + 1]*minewars.Board // what each view knows
	views  [minewars.MaxPlayers + 1]uint64          // messages of each view
	told   gameObject
	found  bool // the tick that was asked for

	before, after uint64 // the nearest ticks of frames to it; 0: none
}

// A doubtObject is a message that cannot be true, by what the spectator knows.
type doubtObject struct {
	Tick    uint64 `json:"tick"`
	Message string `json:"message"`
	Why     string `json:"why"`
}

func (d *doubtObject) String() string {
	return fmt.Sprintf("at tick %s comes %s, but %s", words.Number(d.Tick), d.Message, d.Why)
}

// A gameObject is what inspect says of a game with --json.
type gameObject struct {
	Event    string       `json:"event"` // "game"
	File     string       `json:"file"`
	Grid     string       `json:"grid"`
	Radius   uint8        `json:"radius"`
	TickRate uint8        `json:"tick_rate"`
	Tiles    tileCounts   `json:"tiles"`
	Cities   int          `json:"cities"`
	Parts    int          `json:"parts,omitempty"`
	Frames   uint64       `json:"frames"`
	Messages uint64       `json:"messages"`
	Begins   uint64       `json:"begins,omitempty"` // of a stream: the first tick that it tells of, which sums up those before it
	Ticks    uint64       `json:"ticks"`            // the last one
	Players  []gamePlayer `json:"players"`
	Winner   int          `json:"winner,omitempty"`
	Decided  uint64       `json:"decided,omitempty"` // the tick in which the last other one was eliminated
	Doubts   uint64       `json:"doubts,omitempty"`  // how many messages cannot be true
	Doubt    *doubtObject `json:"doubt,omitempty"`   // the first of them
}

type tileCounts struct {
	Water    int `json:"water"`
	Mined    int `json:"mined"` // land with a mine at the start
	Mountain int `json:"mountain"`
	Land     int `json:"land"`
}

type gamePlayer struct {
	Player     int    `json:"player"`
	Name       string `json:"name,omitempty"`
	Tiles      int    `json:"tiles"`     // at the end
	Most       int    `json:"most"`      // tiles after a frame
	Activated  int    `json:"activated"` // mines on its tiles
	Placed     int    `json:"placed"`    // mines and decoys, on its tiles
	Stuns      int    `json:"stuns"`
	Eliminated uint64 `json:"eliminated,omitempty"` // the tick
	out        bool
}

// inspectGame tells what is in a game, whose parts may be several files.
func (j *inspectJob) inspectGame(names []string, stream bool) error {
	g := &gameInspection{inspectJob: j, stream: stream, names: names}
	err := g.read()
	if g.lines != nil {
		return errors.Join(g.lines.Flush(), err)
	}
	return err
}

func (g *gameInspection) read() error {
	names := g.names
	for i, name := range names {
		g.part = i
		if err := g.readPart(name); err != nil {
			return err
		}
	}
	switch {
	case g.tick != 0 && !g.found:
		return fmt.Errorf("%s: it has no frame of tick %s; %s", document.FileName(names[0]), words.Number(g.tick), g.nearest())
	case g.lines != nil || g.tick != 0:
		return nil
	}
	if len(names) > 1 {
		g.told.Parts = len(names)
	}
	g.told.File = names[0]
	g.conclude()
	if err := g.Emit(g.told); err != nil {
		return err
	}
	return g.tell()
}

// nearest says which ticks have frames around a tick that has none.
func (g *gameInspection) nearest() string {
	switch {
	case g.after == 0:
		return "it ends with tick " + words.Number(g.told.Ticks)
	case g.before == 0:
		return "the first is of tick " + words.Number(g.after)
	}
	return fmt.Sprintf("the nearest are of ticks %s and %s", words.Number(g.before), words.Number(g.after))
}

// notNext returns the error of a part that does not follow those before it.
func (g *gameInspection) notNext() error {
	wrong := "does not begin a game"
	if g.part > 0 {
		wrong = "does not go on where " + document.FileName(g.names[g.part-1]) + " ends"
	}
	return fmt.Errorf("%s: it %s: %v\n  give the parts of one game in order, each once; some may be of an older export", document.FileName(g.names[g.part]), wrong, g.told.Doubt)
}

// readPart reads a file, or standard input.
func (g *gameInspection) readPart(name string) error {
	in := files.Patient(context.Background(), g.In)
	if name != "-" {
		f, err := files.Open(context.Background(), name)
		if err != nil {
			return words.About(name, err)
		}
		defer f.Close()
		in = f
	}
	buffered := bufio.NewReaderSize(in, session.FormatHead)
	if session.FormatOf(buffered, name) == session.FormatGameLines {
		return g.isGameLines(name, gameOfLines(buffered))
	}
	open := minewars.NewReader
	if g.stream {
		open = minewars.NewStreamReader
	}
	r, err := open(buffered, minewars.Options{From: g.told.Ticks})
	if err != nil {
		return g.aboutGame(name, err)
	}
	if g.part > 0 && fmt.Sprint(r.Start()) != fmt.Sprint(g.start) {
		return fmt.Errorf("%s: it is a part of another game than the file before it", document.FileName(name))
	}
	if g.part == 0 {
		if err := g.begin(r); err != nil {
			return err
		}
	}
	var f minewars.Frame
	for {
		switch err := r.Next(&f); {
		case err == io.EOF:
			return nil
		case err != nil:
			return fmt.Errorf("%w\n  there are %s before it", g.aboutGame(name, err), words.Count(g.told.Frames, "whole frame"))
		}
		if err := g.frame(&f); err != nil {
			return err
		}
	}
}

// isGameLines returns the error of JSON lines that convert can make a file with that ending of.
func (a *app) isGameLines(name, ending string) error {
	what, then := "a game", ""
	if ending == session.StreamEnding {
		what, then = "a network stream", fmt.Sprintf(", then %s inspect --stream NEW%s", a.Name, ending)
	}
	return fmt.Errorf("%s: it is JSON lines; make %s of it: %s convert %s NEW%s%s", document.FileName(name), what, a.Name, words.Argument(name), ending, then)
}

// aboutGame names the file that an error is about. A file with another beginning than a game may be a
// network stream.
func (g *gameInspection) aboutGame(name string, err error) error {
	if g.stream {
		return fmt.Errorf("%w\n  --stream is for network streams; without it files are read", words.About(name, err))
	}
	if errors.Is(err, minewars.ErrChecksumHeader) {
		return fmt.Errorf("%w\n  a network stream can be read with --stream", words.About(name, err))
	}
	return words.About(name, err)
}

func (g *gameInspection) begin(r *minewars.Reader) (err error) {
	g.start = r.Start()
	if g.JSON && !g.Quiet && (g.frames || g.commands || g.tick != 0) {
		if g.lines, err = minewars.NewLineWriter(g.Out, r); err != nil {
			return err
		}
	}
	g.told = gameObject{Event: "game", Grid: "hex", Radius: g.start.Radius, TickRate: g.start.TickRate, Cities: len(g.start.Cities)}
	if g.start.Grid == minewars.Square {
		g.told.Grid = "square"
	}
	for _, t := range g.start.Map {
		switch t {
		case minewars.Water:
			g.told.Tiles.Water++
		case minewars.Mined:
			g.told.Tiles.Mined++
		case minewars.Mountain:
			g.told.Tiles.Mountain++
		case minewars.Land:
			g.told.Tiles.Land++
		}
	}
	for p := 1; p <= g.start.Players; p++ {
		player := gamePlayer{Player: p}
		if g.start.Names != nil {
			player.Name = g.start.Names[p-1]
		}
		g.told.Players = append(g.told.Players, player)
	}
	for v := range g.start.Players + 1 {
		g.boards[v] = minewars.NewBoard(g.start, v)
	}
	return nil
}

// frame counts what a frame says, and prints it if frames are asked for.
func (g *gameInspection) frame(f *minewars.Frame) error {
	g.told.Frames++
	g.told.Ticks = f.Tick
	if g.stream && g.told.Messages == 0 && joined(f) {
		g.told.Begins = f.Tick
	}
	for _, list := range f.Lists {
		g.told.Messages += uint64(len(list))
	}
	for v := range g.start.Players + 1 {
		messages := f.For(v)
		g.views[v] += uint64(len(messages))
		for i := range messages {
			g.message(v, f.Tick, &messages[i])
		}
		if slices.ContainsFunc(messages, func(m minewars.Message) bool { return m.Op == minewars.Owner }) {
			g.count()
		}
	}
	switch {
	case g.told.Doubts > 0 && len(g.names) > 1:
		return g.notNext()
	case g.tick > f.Tick:
		g.before = f.Tick
		return nil
	case g.tick != 0 && g.tick < f.Tick:
		if g.after == 0 {
			g.after = f.Tick
		}
		return nil
	}
	g.found = true
	switch {
	case g.lines != nil:
		return g.lines.Write(f)
	case g.frames || g.commands || g.tick != 0:
		return g.printFrame(f)
	}
	return nil
}

// joined reports whether a stream whose messages begin with a frame may have been joined late: it is of one
// view, as that of a client, and not from the first tick on.
func joined(f *minewars.Frame) bool {
	return f.Tick > 1 && f.Homogeneous() && bits.OnesCount8(f.Mask) == 2 && len(f.Lists[0]) > 0
}

// summed reports whether the messages of a tick sum up what happened before the client joined the stream.
func (g *gameInspection) summed(tick uint64) bool { return tick == g.told.Begins && tick > 0 }

// message applies a message to what a view knows. Of messages to all views, it takes the spectator's, or if
// there is none, the player's own.
func (g *gameInspection) message(v int, tick uint64, m *minewars.Message) {
	board := g.boards[v]
	if why := board.Doubt(m); why != "" {
		if g.told.Doubts++; g.told.Doubt == nil {
			g.told.Doubt = &doubtObject{tick, m.String(), why}
		}
	}
	if m.Player > 0 && (v == minewars.Spectator || v == int(m.Player) && g.views[minewars.Spectator] == 0) {
		switch p := &g.told.Players[m.Player-1]; m.Op {
		case minewars.Stunned:
			if !g.summed(tick) {
				p.Stuns++
			}
		case minewars.Eliminated:
			if !p.out {
				p.Eliminated, p.out = tick, true
			}
		}
	}
	if (m.Op == minewars.Activated || m.Op == minewars.Placed) && !g.summed(tick) {
		owner := int(board.Tiles[g.start.Grid.Index(m.Tiles[0])].Owner)
		if owner > 0 && (v == minewars.Spectator || v == owner && g.views[minewars.Spectator] == 0) {
			if p := &g.told.Players[owner-1]; m.Op == minewars.Activated {
				p.Activated++
			} else {
				p.Placed++
			}
		}
	}
	board.Apply(tick, []minewars.Message{*m})
}

// count counts the tiles of each player, as the spectator knows them or, if there is none, the player.
func (g *gameInspection) count() {
	for i := range g.told.Players {
		p := &g.told.Players[i]
		board := g.boards[minewars.Spectator]
		if g.views[minewars.Spectator] == 0 {
			board = g.boards[p.Player]
		}
		p.Tiles = 0
		for k := range board.Tiles {
			if int(board.Tiles[k].Owner) == p.Player {
				p.Tiles++
			}
		}
		p.Most = max(p.Most, p.Tiles)
	}
}

// conclude counts what the players have at the end, and finds the winner: the one who is left.
func (g *gameInspection) conclude() {
	g.count()
	left := 0
	for i := range g.told.Players {
		if p := &g.told.Players[i]; !p.out {
			left++
			g.told.Winner = p.Player
		}
	}
	if left != 1 || len(g.told.Players) < 2 {
		g.told.Winner = 0
		return
	}
	for i := range g.told.Players {
		g.told.Decided = max(g.told.Decided, g.told.Players[i].Eliminated)
	}
}

// tell prints the story for people.
func (g *gameInspection) tell() error {
	t := &g.told
	grid := "hexagons"
	if g.start.Grid == minewars.Square {
		grid = "squares"
	}
	parts := ""
	if t.Parts > 0 {
		parts = fmt.Sprintf(", the first of %s", words.Count(uint64(t.Parts), "part"))
	}
	lines := []string{
		fmt.Sprintf("file      %s%s", document.FileName(t.File), parts),
		fmt.Sprintf("game      MineWars, %s, %s, %d ticks a second", words.Count(uint64(len(t.Players)), "player"), cities(t.Cities), t.TickRate),
		fmt.Sprintf("map       %s, radius %d: %s land, %s mined, %s mountain, %s water", grid, t.Radius,
			words.Number(uint64(t.Tiles.Land)), words.Number(uint64(t.Tiles.Mined)), words.Number(uint64(t.Tiles.Mountain)), words.Number(uint64(t.Tiles.Water))),
		fmt.Sprintf("frames    %s, %s, the last is tick %s (%s)", words.Count(t.Frames, "frame"), words.Count(t.Messages, "message"), words.Number(t.Ticks), g.clock(t.Ticks)),
	}
	lines = append(lines, g.playerLines()...)
	if t.Winner > 0 {
		lines = append(lines, fmt.Sprintf("winner    %s, %s", g.playerName(t.Winner), g.at("at tick ", t.Decided)))
	} else {
		lines = append(lines, "winner    none so far")
	}
	if t.Begins > 0 {
		lines = append(lines, fmt.Sprintf("note      the stream begins at tick %s (%s) with what there was by then;\n          the counts begin there, too", words.Number(t.Begins), g.clock(t.Begins)))
	}
	const slips = 1 // that a whole game of another program may have
	if t.Doubts > slips {
		lines = append(lines, fmt.Sprintf("note      is this a later part? %s cannot be true from the start on:\n          %v", words.Count(t.Doubts, "message"), t.Doubt))
	}
	return g.Say("%s", strings.Join(lines, "\n"))
}

func cities(n int) string {
	if n == 1 {
		return "1 city"
	}
	return fmt.Sprintf("%d cities", n)
}

// playerLines is a table of the players.
func (g *gameInspection) playerLines() []string {
	rows := [][]string{{"players", "tiles", "most", "placed", "activated", "stunned", "out at tick"}}
	for i := range g.told.Players {
		p := &g.told.Players[i]
		row := []string{"  " + g.playerName(p.Player)}
		for _, n := range []int{p.Tiles, p.Most, p.Placed, p.Activated, p.Stuns} {
			row = append(row, words.Number(uint64(n)))
		}
		if p.out {
			row = append(row, g.at("", p.Eliminated))
		}
		rows = append(rows, row)
	}
	return words.Aligned(rows)
}

// at says in which tick something happened: not after the one in which a stream that was joined late begins.
func (g *gameInspection) at(at string, tick uint64) string {
	if g.summed(tick) {
		at = "by tick "
	}
	return fmt.Sprintf("%s%s (%s)", at, words.Number(tick), g.clock(tick))
}

func (g *gameInspection) playerName(p int) string { return numberedName(g.start.Names, p) }

// numberedName is a player's number and, if it has one, name.
func numberedName(names []string, p int) string {
	if names != nil && names[p-1] != "" {
		return fmt.Sprintf("%d %s", p, words.Printable(names[p-1]))
	}
	return fmt.Sprint(p)
}

// clock is the time of a tick since the start.
func (g *gameInspection) clock(tick uint64) string {
	seconds := float64(tick) / float64(g.start.TickRate)
	if seconds < 60 {
		return scenarios.Number(float64(int(seconds*10))/10) + " s"
	}
	return fmt.Sprintf("%s:%02d min", words.Number(uint64(seconds)/60), uint64(seconds)%60)
}

// printFrame prints a frame and its messages.
func (g *gameInspection) printFrame(f *minewars.Frame) error {
	lines := []string{fmt.Sprintf("tick %s  byte %s  %s", words.Number(f.Tick), words.Number(uint64(f.Offset)), words.Count(uint64(f.Size), "byte"))}
	add := func(who string, messages []minewars.Message) {
		for _, m := range messages {
			lines = append(lines, fmt.Sprintf("  %-10s  %s", who, m))
		}
	}
	if f.Homogeneous() {
		add(g.participants(f.Mask), f.Lists[0])
	} else {
		for v := range g.start.Players + 1 {
			add(viewName(v), f.For(v))
		}
	}
	return g.Say("%s", strings.Join(lines, "\n"))
}

// participants names the views of a homogeneous frame.
func (g *gameInspection) participants(mask uint8) string {
	var names []string
	for v := range g.start.Players + 1 {
		if mask>>v&1 != 0 {
			names = append(names, viewName(v))
		}
	}
	if len(names) == g.start.Players+1 {
		return "everyone"
	}
	return strings.Join(names, ", ")
}

func viewName(v int) string {
	if v == minewars.Spectator {
		return "spectator"
	}
	return fmt.Sprintf("player %d", v)
}
