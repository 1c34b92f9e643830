package environment

import (
	"flag"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"os/user"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

func asks(f *os.File, b []byte, c *http.Client) int {
	_ = os.Getenv("HOME")           // want `environment: os.Getenv depends on the machine`
	name, _ := os.Hostname()        // want `environment: os.Hostname`
	who, _ := user.Current()        // want `environment: user.Current`
	f.Read(b)                       // want `environment: os.File.Read reads a file`
	c.Get("https://" + name)        // want `environment: http.Client.Get is for networks`
	list, _ := filepath.Glob("*.x") // want `environment: filepath.Glob looks into the file system`
	flag.Parse()                    // want `environment: flag.Parse reads the command line`
	if runtime.GOOS == who.Name {   // want `environment: runtime.GOOS is another on other machines`
		return os.Getpid() // want `environment: os.Getpid`
	}
	_ = time.Now                                       // want `clock: time.Now`
	_ = time.Unix(0, 0).In(time.Local)                 // want `environment: time.Local depends on the machine's time zone`
	return len(list) + len(os.Args) + runtime.NumCPU() // want `environment: os.Args` `environment: runtime.NumCPU`
}

// What is passed in, and what only takes names apart.
func given(r io.Reader, files fs.FS, at string) (string, error) {
	b, err := io.ReadAll(r)
	if os.IsNotExist(err) && err != os.ErrExist {
		return "", err
	}
	u, err := url.Parse(at)
	if err != nil {
		return "", err
	}
	_, err = fs.ReadFile(files, filepath.Join("a", filepath.Base(u.Path)))
	return strings.TrimSpace(string(b)), err
}
