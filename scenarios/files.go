package scenarios

import (
	"bytes"
	"encoding/base64"
	"errors"
	"image"
	"image/color"
	"image/png"
	"io/fs"
	"path"

	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/scenarios/document"
)

// readFile reads the file that a node names: a regular file in the scenario's folder or
// below. Errors point at the node.
func readFile(n *document.Node) ([]byte, error) {
	if n.Source.Files == nil {
		return nil, n.Errorf("%s: this scenario may not name files", n.Raw)
	}
	name := path.Clean(n.Raw)
	if !fs.ValidPath(name) {
		bad := n.Errorf("%s: the path leads out of the scenario's folder", n.Raw)
		bad.Hint = filesHint
		return nil, bad
	}
	b, err := readRegular(n.Source.Files, name)
	if err == nil {
		return b, nil
	}
	why := err
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		why = e.Err // its path adds nothing
	}
	bad := n.Errorf("%s: %v", n.Raw, why).Because(err)
	bad.Hint = filesHint
	return nil, bad
}

const filesHint = "a scenario names regular files in its folder or below, as seen from that folder (also in --set); links must not lead out of it"

var errNotRegular = errors.New("is not a regular file")

// readRegular reads a file if it is a regular one. Opening any other might wait for ever.
func readRegular(files fs.FS, name string) ([]byte, error) {
	info, err := fs.Stat(files, name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errNotRegular
	}
	f, err := files.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return document.ReadAll(name, f)
}

// A grayImage is an image of a file. Layers that name the same file share it.
type grayImage struct {
	name             string // of the file
	rows, cols, bits int
	samples          []byte
	base64           string
}

const maxPixels = 1 << 24

// loadPNG turns the layer's image file into its samples. It decodes no image that does not
// fit the space, and each file only once.
func (l *layer) loadPNG(d *decoder, n *document.Node) error {
	at := n.At("file")
	if at.Source.Files == nil {
		_, err := readFile(at)
		return err
	}
	img := d.image(path.Clean(at.Raw))
	if img == nil {
		var err error
		if img, err = d.readPNG(l.PNG.At, at); err != nil {
			return err
		}
		d.images = append(d.images, img)
	} else if err := d.checkFits(at, l.PNG.At, img.rows, img.cols); err != nil {
		return err
	}
	if d.sampled += len(img.base64); d.sampled > commands.MaxPayload {
		return at.Errorf("%s: the images of the layers take more than %d bytes in all, which no recording can hold", at.Raw, commands.MaxPayload)
	}
	l.Gray = &gray{At: l.PNG.At, From: l.PNG.From, To: l.PNG.To, Rows: img.rows, Cols: img.cols, Bits: img.bits, Samples: img.base64, samples: img.samples}
	l.PNG = nil
	return nil
}

// image returns the image of a file that has been read; nil if there is none.
func (d *decoder) image(name string) *grayImage {
	for _, img := range d.images {
		if img.name == name {
			return img
		}
	}
	return nil
}

// readPNG reads the image file that a node names, if it fits the space.
func (d *decoder) readPNG(corner *Cell, n *document.Node) (*grayImage, error) {
	b, err := readFile(n)
	if err != nil {
		return nil, err
	}
	if !bytes.HasPrefix(b, []byte("\x89PNG\r\n\x1a\n")) {
		return nil, n.Errorf("%s: is not a PNG", n.Raw)
	}
	c, err := png.DecodeConfig(bytes.NewReader(b))
	if err != nil {
		return nil, n.Errorf("%s: %s", n.Raw, plain(err)).Because(err)
	}
	if c.Width > maxPixels || c.Height > maxPixels || c.Width*c.Height > maxPixels {
		return nil, n.Errorf("%s: %d×%d pixels; at most %d are allowed", n.Raw, c.Width, c.Height, maxPixels)
	}
	if err := d.checkFits(n, corner, c.Height, c.Width); err != nil {
		return nil, err
	}
	if need := imageMemory(&c); d.registry.memory > 0 && need > d.registry.memory {
		e := n.Errorf("%s: reading its %d×%d pixels takes about %s bytes of memory; the limit is %s",
			n.Raw, c.Height, c.Width, Number(float64(need)), Number(float64(d.registry.memory)))
		e.Hint = "use a smaller image or one of fewer bits, or raise the limit of memory"
		return nil, e
	}
	img, err := png.Decode(bytes.NewReader(b))
	if err != nil {
		return nil, n.Errorf("%s: %s", n.Raw, plain(err)).Because(err)
	}
	return grayOf(path.Clean(n.Raw), img), nil
}

// imageMemory estimates the bytes that reading an image takes: its pixels, their brightness, that
// in base64, and what the garbage collector has not taken back.
func imageMemory(c *image.Config) uint64 {
	pixel := uint64(8)
	switch c.ColorModel {
	case color.GrayModel:
		pixel = 1
	case color.Gray16Model:
		pixel = 2
	case color.RGBAModel, color.NRGBAModel:
		pixel = 4
	}
	if _, ok := c.ColorModel.(color.Palette); ok {
		pixel = 1
	}
	const level, garbage = 2 + 3, 2
	return uint64(c.Width) * uint64(c.Height) * (pixel + level) * garbage
}

// grayOf returns the brightness of an image, of 16 bits if it needs them.
func grayOf(name string, img image.Image) *grayImage {
	box := img.Bounds()
	g := &grayImage{name: name, rows: box.Dy(), cols: box.Dx(), bits: 8}
	level := func(i int) uint16 {
		at := img.At(box.Min.X+i%g.cols, box.Min.Y+i/g.cols)
		return color.Gray16Model.Convert(at).(color.Gray16).Y
	}
	n := g.rows * g.cols
	for i := 0; i < n && g.bits == 8; i++ {
		if v := level(i); v != v>>8*257 {
			g.bits = 16
		}
	}
	g.samples = make([]byte, 0, n*g.bits/8)
	for i := range n {
		v := level(i)
		if g.bits == 16 {
			g.samples = append(g.samples, byte(v>>8))
		}
		g.samples = append(g.samples, byte(v))
	}
	g.base64 = base64.StdEncoding.EncodeToString(g.samples)
	return g
}
