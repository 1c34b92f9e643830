package render

import (
	"encoding/hex"
	"image"
	"strings"
)

// glyphs are letters of a proportional font: each rune and its columns from left to right, a
// byte a column, bit 0 on top, bit 7 below the line.
const glyphs = `
!5f "070007 #147f147f14 $242a7f2a12 %2313086462 &3649552250 '07 (1c2241 )41221c *082a1c2a08 +08083e0808 ,8060
-08080808 .6060 /2010080402 03e5149453e 100427f4000 24261514946 32141454b31 41814127f10 52745454539 63c4a494930
70171090503 83649494936 9064949291e :3636 ;807636 <08142241 =14141414 >41221408 ?0201510906 @3e415d551e A7c1211127c
B7f49494936 C3e41414122 D7f4141221c E7f49494941 F7f09090901 G3e4149497a H7f0808087f I417f41 J204040403f K7f08142241
L7f40404040 M7f020c027f N7f0408107f O3e4141413e P7f09090906 Q3e4151215e R7f09192946 S2649494932 T01017f0101
U3f4040403f V1f2040201f W3f4038403f X6314081463 Y0708700807 Z6151494543 [7f4141 \0204081020 ]41417f ^0402010204
_8080808080 a2054545478 b7f48444438 c3844444428 d384444487f e3854545418 f087e0901 g18a4a4a47c h7f08040478
i447d40 j80847d k7f102844 l417f40 m7c04180478 n7c08040478 o3844444438 pfc24242418 q18242424fc r7c080404 s4854545424
t043f4440 u3c4040207c v1c2040201c w3c4030403c x4428102844 y1ca0a0a07c z4464544c44 {083641 |7f }413608 ~0804081008
°06090906 ²191512 ³11150a µfc2020103c ·08 ×2214081422 −08080808 ±44445f4444 Ω5e6101615e
`

const (
	lineHeight = 8 // pixels of a letter, times the size of the text
	wordSpace  = 3
)

// letters are the columns of each letter.
var letters = func() map[rune][]byte {
	m := map[rune][]byte{' ': make([]byte, wordSpace)}
	for _, g := range strings.Fields(glyphs) {
		r := []rune(g)
		columns, err := hex.DecodeString(string(r[1:]))
		if err != nil {
			panic("render: the font has a glyph that is no hexadecimal number: " + g)
		}
		m[r[0]] = columns
	}
	m['μ'] = m['µ']
	return m
}()

// unknown stands for letters that the font does not have.
var unknown = []byte{0x7f, 0x41, 0x41, 0x7f}

func letter(r rune) []byte {
	if c, ok := letters[r]; ok {
		return c
	}
	return unknown
}

// textWidth returns how wide a text is, in pixels of its size.
func textWidth(s string) int {
	width := 0
	for _, r := range s {
		width += len(letter(r)) + 1
	}
	return max(width-1, 0)
}

// write draws a text whose upper left corner lies at a point, with a number of pixels for each
// of a letter's.
func (f *Figure) write(at image.Point, s string, colour uint8) {
	for _, r := range s {
		columns := letter(r)
		for x, column := range columns {
			for y := range 8 {
				if column>>y&1 != 0 {
					box := image.Rect(0, 0, f.text, f.text).Add(at).Add(image.Pt(x*f.text, y*f.text))
					fill(f.image, box, colour)
				}
			}
		}
		at.X += (len(columns) + 1) * f.text
	}
}
