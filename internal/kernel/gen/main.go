// Command gen writes the vector code of package kernel; go generate there runs it.
package main

import (
	"flag"
	"log"
	"os"
	"strings"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

func main() {
	ConstraintExpr("amd64")
	exponent = constant("exponent", 0x7f800000)
	masks = GLOBL("masks", RODATA|NOPTR)
	for i := range 16 {
		DATA(i*lane, U32(uint32(i/8)-1))
	}
	relax()
	apart()
	woven()
	stencils()
	each()
	slope()
	normal()
	sha256Two()
	Generate()
	if err := except(flag.Lookup("stubs").Value.String()); err != nil {
		log.Fatal(err)
	}
}

// except says to tools/detcheck why the functions of a file may have no body in Go.
func except(path string) error {
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	s := strings.ReplaceAll(string(b), "\nfunc ", "\n//detcheck:allow foreign it has a plain twin with the same bits\nfunc ")
	return os.WriteFile(path, []byte(s), 0o666)
}

const (
	lane   = 4        // bytes of a float32
	vector = 8 * lane // bytes of a vector
	wide   = 4        // vectors of a wide block
	half   = wide / 2
)

var (
	exponent Mem // the bits of a float32's exponent
	masks    Mem // eight lanes of ones and eight of zeros: the mask for m lanes begins m before the middle
)

// constant returns a float32, or its bits, in read-only memory.
func constant(name string, bits uint32) Mem {
	m := GLOBL(name, RODATA|NOPTR)
	DATA(0, U32(bits))
	return m
}

// parameter loads a parameter into a new register.
func parameter(name string) GPVirtual {
	r := GP64()
	Load(Param(name), r)
	return r
}
