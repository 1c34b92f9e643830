// Command smoke is murksim with a wind that blows smoke along. With the argument rounds it
// plays two rounds of one world, one after the other, and records both, as a game server might.
//
// The wind has a mistake, on purpose: the README finds it under "When two runs differ".
package main

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"log"
	"os"

	"github.com/murksim/murksim/cli"
	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/replay"
	"github.com/murksim/murksim/runner"
	"github.com/murksim/murksim/scenarios"
	"github.com/murksim/murksim/scenarios/worlds"
	"github.com/murksim/murksim/scenarios/yaml"
)

//go:embed smoke.yaml
var world []byte

func main() {
	if len(os.Args) != 2 || os.Args[1] != "rounds" {
		cli.Main(cli.Program{Name: "smoke", Components: components()})
	}
	if err := rounds(); err != nil {
		log.Fatal(err)
	}
}

// rounds plays two rounds that should be equal: the same world, seed and commands.
func rounds() error {
	registry, err := scenarios.NewRegistry(append(worlds.Components(), components()...)...)
	if err != nil {
		return err
	}
	s, err := yaml.Parse(registry, "smoke.yaml", yaml.Folder("."), world)
	if err != nil {
		return err
	}
	config, err := s.Config(1) // of both
	if err != nil {
		return err
	}
	for _, name := range []string{"one.murk", "two.murk"} {
		if err := play(s, config, name); err != nil {
			return err
		}
	}
	return nil
}

// play records a round.
func play(s *scenarios.Scenario, config engine.Config, name string) (err error) {
	w, err := engine.New(config)
	if err != nil {
		return err
	}
	file, err := os.Create(name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	recorder, err := replay.NewRecorder(file, w, s.Descriptor())
	if err != nil {
		return err
	}
	w.Record(recorder)
	if err := (&runner.Run{Scenario: s, World: w}).To(context.Background(), s.Ticks); err != nil {
		return err
	}
	fmt.Printf("%s  %d ticks, hash %016x\n", name, w.Tick(), w.Hash())
	return recorder.Flush()
}
