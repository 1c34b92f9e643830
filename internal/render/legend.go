package render

import (
	"image"
	"strconv"
)

// furnish draws what all frames have: the ground, the title, and what colours stand for.
func (f *Figure) furnish() {
	f.write(image.Pt(f.gap(), f.gap()), f.title(), f.ink)
	width := f.image.Rect.Dx() - 2*f.gap()
	at := image.Pt(f.gap(), f.image.Rect.Max.Y-f.gap()/2-f.legendHeight(width))
	switch f.style.Part {
	case Category:
		at.Y += f.swatches(at, f.categories(), width, true)
	case Direction:
		f.compassRose(at)
		at.Y += roseSide*f.text + f.gap()
	default:
		f.bar(at, min(width, barWidth*f.text))
		at.Y += (barHeight+3)*f.text + f.line()
	}
	f.swatches(at, f.kinds(), width, true)
}

const (
	barWidth  = 200 // of a scale, at most, times the size of the text
	barHeight = 8
	roseSide  = 24
)

// legendHeight returns how high the legend is.
func (f *Figure) legendHeight(width int) (height int) {
	switch f.style.Part {
	case Category:
		height = f.swatches(image.Point{}, f.categories(), width, false)
	case Direction:
		height = roseSide*f.text + f.gap()
	default:
		height = (barHeight+3)*f.text + f.line()
	}
	return height + f.swatches(image.Point{}, f.kinds(), width, false)
}

// least returns the width that title, caption and scale need.
func (f *Figure) least() int {
	const caption = "   tick 1,000,000"
	need := textWidth(f.title() + caption)
	if f.style.Panels > 1 {
		need = textWidth(f.title())
	}
	switch f.style.Part {
	case Category:
		for _, s := range f.categories() {
			need = max(need, textWidth(s.name)+lineHeight+2)
		}
	case Direction:
		need = max(need, roseSide+4+textWidth(f.longest()))
	default:
		need = max(need, textWidth(number(f.style.Lo)+"     "+number(f.style.Hi)), 64)
	}
	return need * f.text
}

// A swatch is a colour and what it stands for.
type swatch struct {
	name   string
	colour uint8
	round  bool
}

func (f *Figure) categories() (list []swatch) {
	for i, name := range f.style.Names {
		if i == shown {
			break
		}
		list = append(list, swatch{name, firstValue + uint8(i), false})
	}
	return list
}

func (f *Figure) kinds() (list []swatch) {
	if f.style.Mask != "" {
		list = append(list, swatch{f.style.Mask, solid, false})
	}
	for i, name := range f.style.Kinds {
		list = append(list, swatch{name, uint8(i), true})
	}
	return list
}

// swatches draws colours and their names, in as many lines as they take, and returns how high
// they are. It only measures unless it is told to draw.
func (f *Figure) swatches(at image.Point, list []swatch, width int, draw bool) (height int) {
	if len(list) == 0 {
		return 0
	}
	x, y, side := 0, 0, lineHeight*f.text
	for _, s := range list {
		w := side + (3+textWidth(s.name))*f.text
		if x > 0 && x+w > width {
			x, y = 0, y+f.line()
		}
		if draw {
			corner := at.Add(image.Pt(x, y))
			box := image.Rect(0, 0, side, side).Add(corner)
			if s.round {
				f.mark(box, int32(s.colour))
			} else {
				fill(f.image, box, f.faint)
				fill(f.image, box.Inset(f.text), s.colour)
			}
			f.write(corner.Add(image.Pt(side+3*f.text, 0)), s.name, f.ink)
		}
		x += w + 8*f.text
	}
	return y + f.line()
}

// bar draws the colours of a scale, with the values at both ends and in the middle.
func (f *Figure) bar(at image.Point, width int) {
	height := barHeight * f.text
	for x := range width {
		shade := firstValue + uint8(x*(steps-1)/max(width-1, 1))
		fill(f.image, image.Rect(at.X+x, at.Y, at.X+x+1, at.Y+height), shade)
	}
	y := at.Y + height + 2*f.text
	s := &f.style
	lo, middle, hi := number(s.Lo), number(float64(s.Lo+s.Hi)/2), number(s.Hi)
	f.write(image.Pt(at.X, y), lo, f.ink)
	end := at.X + width - textWidth(hi)*f.text
	f.write(image.Pt(end, y), hi, f.ink)
	left := at.X + width/2 - textWidth(middle)*f.text/2
	room := 6 * f.text
	if left > at.X+textWidth(lo)*f.text+room && left+textWidth(middle)*f.text+room < end && middle != lo && middle != hi {
		f.write(image.Pt(left, y), middle, f.ink)
	}
}

func (f *Figure) longest() string {
	return "length up to " + number(f.style.Hi)
}

// compassRose draws the colour of every direction.
func (f *Figure) compassRose(at image.Point) {
	side := roseSide * f.text
	for y := range side {
		for x := range side {
			dx, dy := float64(2*x+1-side), float64(2*y+1-side)
			if length(dx, dy) > float64(side) {
				continue
			}
			scale := Scale{Part: Direction, Hi: float64(side)}
			fill(f.image, image.Rect(x, y, x+1, y+1).Add(at), firstValue+scale.of([]float64{dx, dy}))
		}
	}
	f.write(at.Add(image.Pt(side+4*f.text, (side-lineHeight*f.text)/2)), f.longest(), f.ink)
}

// Tick returns the caption of a tick.
func Tick(tick uint64) string {
	s := strconv.FormatUint(tick, 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return "tick " + s
}
