package export

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"image/color"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/murksim/murksim/engine"
)

// An mp4Sink writes a film through ffmpeg: the pictures go to its standard input, and what it
// makes of them, in a folder of its own, is copied at the end. It cannot write to a pipe, since
// the head of an MP4 tells where its frames are.
type mp4Sink struct {
	file    io.Writer
	painter *painter
	folder  string
	ffmpeg  *exec.Cmd
	in      io.WriteCloser
	wait    func() error // ends its input, waits for ffmpeg, and returns how it ended
	left    atomic.Bool  // it was discarded
	errs    bytes.Buffer
	picture []byte
	frames  int
}

const film = "film.mp4"

func openMP4(to File, p *Plan, t Ticks, look Look) (Sink, error) {
	const side, fastest = 1024, 240 // pixels, frames a second
	if err := p.whole("a film"); err != nil {
		return nil, err
	}
	look.Rate = cmp.Or(look.Rate, defaultRate)
	if !(look.Rate >= 0.01 && look.Rate <= fastest) {
		return nil, fmt.Errorf("an MP4 has 0.01 to %d frames a second, not %v", fastest, look.Rate)
	}
	path, err := exec.LookPath("ffmpeg")
	if err != nil {
		return nil, errors.New("films of this kind are made by ffmpeg, which is not on the PATH\n" +
			"  install it (on Debian and Ubuntu: apt-get install ffmpeg), or write a .gif")
	}
	painter, err := newPainter(p, look, side, 1, p.filmRows(t))
	if err != nil {
		return nil, err
	}
	s := &mp4Sink{file: to, painter: painter}
	if s.folder, err = os.MkdirTemp("", "murksim-film-"); err != nil {
		return nil, err
	}
	size := painter.figure.Image().Rect.Size()
	s.ffmpeg = exec.Command(path, "-hide_banner", "-loglevel", "error",
		"-f", "rawvideo", "-pixel_format", "rgb24", "-video_size", fmt.Sprintf("%dx%d", size.X, size.Y),
		"-framerate", strconv.FormatFloat(look.Rate, 'f', -1, 64), "-i", "pipe:0",
		"-an", "-vf", "scale=out_color_matrix=bt709:out_range=tv", "-c:v", "libx264", "-crf", "16", "-pix_fmt", "yuv420p",
		"-colorspace", "bt709", "-color_primaries", "bt709", "-color_trc", "bt709",
		"-fflags", "+bitexact", "-flags:v", "+bitexact", "-movflags", "+faststart", film)
	s.ffmpeg.Dir, s.ffmpeg.Stderr, s.ffmpeg.WaitDelay = s.folder, &s.errs, time.Second
	if s.in, err = s.ffmpeg.StdinPipe(); err == nil {
		err = s.ffmpeg.Start()
	}
	if err != nil {
		os.RemoveAll(s.folder)
		return nil, fmt.Errorf("ffmpeg cannot be started: %w", err)
	}
	s.wait = sync.OnceValue(func() error {
		s.in.Close()
		return s.ffmpeg.Wait()
	})
	return s, nil
}

// Add implements [Sink].
func (s *mp4Sink) Add(w *engine.World) error {
	s.painter.next(w)
	m := s.painter.figure.Image()
	s.picture = s.picture[:0]
	for _, pixel := range m.Pix {
		c := m.Palette[pixel].(color.RGBA)
		s.picture = append(s.picture, c.R, c.G, c.B)
	}
	s.frames++
	if _, err := s.in.Write(s.picture); err != nil {
		return s.end(err)
	}
	return nil
}

// end waits for ffmpeg and says what went wrong, if anything did.
func (s *mp4Sink) end(err error) error {
	switch err = cmp.Or(s.wait(), err); {
	case err == nil:
		return nil
	case s.left.Load():
		return errors.New("ffmpeg was ended before the film was whole")
	}
	return s.quoting(err)
}

// quoting returns what ffmpeg said, or else an error.
func (s *mp4Sink) quoting(err error) error {
	if said := strings.TrimSpace(s.errs.String()); said != "" {
		return fmt.Errorf("ffmpeg: %s", said)
	}
	return fmt.Errorf("ffmpeg: %w", err)
}

// Close implements [Sink].
func (s *mp4Sink) Close() error {
	defer s.Discard()
	if err := s.end(nil); err != nil {
		return err
	}
	f, err := os.Open(filepath.Join(s.folder, film))
	if errors.Is(err, fs.ErrNotExist) {
		return s.quoting(errors.New("it wrote no film"))
	}
	if err != nil {
		return err
	}
	defer f.Close()
	if err := wholeFilm(f); err != nil {
		return s.quoting(err)
	}
	if _, err = f.Seek(0, io.SeekStart); err == nil {
		_, err = io.Copy(s.file, f)
	}
	return err
}

// errCut reports a film that cannot be played.
var errCut = errors.New("the film that it wrote is not whole")

// wholeFilm returns an error if the boxes of an MP4 do not end where the file does, or if the one
// with the frames or their table is missing. On a full disk ffmpeg may write such a file and
// end with 0.
func wholeFilm(f io.ReadSeeker) error {
	length, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return err
	}
	found := make(map[string]bool)
	for at := int64(0); at < length; {
		var head [16]byte // size, type, and a size of 64 bits if the first is 1
		if _, err := f.Seek(at, io.SeekStart); err != nil {
			return err
		}
		if n, err := io.ReadFull(f, head[:]); err != nil && n < 8 {
			return errCut
		}
		size := int64(binary.BigEndian.Uint32(head[:4]))
		if size == 1 {
			size = int64(binary.BigEndian.Uint64(head[8:]))
		}
		if size < 8 || size > length-at {
			return errCut
		}
		found[string(head[4:8])] = true
		at += size
	}
	if !found["moov"] || !found["mdat"] {
		return errCut
	}
	return nil
}

// Discard implements [Sink].
func (s *mp4Sink) Discard() {
	s.left.Store(true)
	s.ffmpeg.Process.Kill()
	s.wait()
	os.RemoveAll(s.folder)
}

// Summary implements [Sink].
func (s *mp4Sink) Summary() string {
	size := s.painter.figure.Image().Rect.Size()
	return fmt.Sprintf("%s, %d×%d", plural(s.frames, "frame"), size.X, size.Y)
}
