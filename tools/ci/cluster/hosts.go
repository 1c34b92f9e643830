package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

// hosts is how many there are; the network and its addresses are seen in no other namespace.
const hosts = 3

func hostName(h int) string    { return fmt.Sprintf("host%d", h) }
func hostAddress(h int) string { return fmt.Sprintf("10.77.0.%d", h) }
func hostLink(h int) string    { return fmt.Sprintf("to-host%d", h) }

// inHost is the command that runs another one in the network of a host.
func inHost(h int, program string, args ...string) []string {
	return append([]string{"nsenter", "--net=/run/netns/" + hostName(h), "--", program}, args...)
}

// network makes the hosts, the bridge that joins them, and their small disks.
func (r *rig) network(ctx context.Context) error {
	for _, line := range []string{
		"ip link set lo up",
		"ip link add bridge type bridge",
		"ip addr add 10.77.0.254/24 dev bridge", // of this process
		"ip link set bridge up",
	} {
		if err := r.command(ctx, strings.Fields(line)...); err != nil {
			return err
		}
	}
	for h := 1; h <= hosts; h++ {
		for _, line := range []string{
			"ip netns add " + hostName(h),
			"ip link add " + hostLink(h) + " type veth peer name eth0 netns " + hostName(h),
			"ip link set " + hostLink(h) + " master bridge up",
			"ip -n " + hostName(h) + " addr add " + hostAddress(h) + "/24 dev eth0",
			"ip -n " + hostName(h) + " link set eth0 up",
			"ip -n " + hostName(h) + " link set lo up",
		} {
			if err := r.command(ctx, strings.Fields(line)...); err != nil {
				return err
			}
		}
	}
	for _, disk := range append(r.stores(), r.out()) {
		if err := os.MkdirAll(disk, 0o777); err != nil {
			return err
		}
		if err := r.command(ctx, "mount", "-t", "tmpfs", "-o", "size=96m", "tmpfs", disk); err != nil {
			return err
		}
	}
	return nil
}

// command runs a command to its end.
func (r *rig) command(ctx context.Context, args ...string) error {
	within, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	if out, err := exec.CommandContext(within, args[0], args[1:]...).CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", strings.Join(args, " "), err, out)
	}
	return nil
}

func (r *rig) scenario() string   { return filepath.Join(r.dir, "pond.yaml") }
func (r *rig) out() string        { return filepath.Join(r.dir, "out") }
func (r *rig) journal() string    { return filepath.Join(r.out(), "journal") }
func (r *rig) store(h int) string { return filepath.Join(r.dir, hostName(h)) }
func (r *rig) cores() int         { return min(runtime.NumCPU(), hosts*len(workerNames)) }
func (s *settings) local() string { return filepath.Join(s.dir, "local") }
func natsURL(h int) string        { return "nats://" + hostAddress(h) + ":4222" }
func serverID(h int) string       { return strings.ReplaceAll(hostAddress(h), ".", "-") + "-6222" }
func serverName(h int) string     { return fmt.Sprintf("server %d", h) }
func workerName(h, i int) string  { return fmt.Sprintf("%s-%s", hostName(h), workerNames[i]) }
func hostOf(worker string) string { name, _, _ := strings.Cut(worker, "-"); return name }

// workerNames tell the workers of a host apart.
var workerNames = [...]string{"a", "b"}

func (r *rig) stores() (list []string) {
	for h := 1; h <= hosts; h++ {
		list = append(list, r.store(h))
	}
	return list
}

// urls are those of all servers.
func urls() string {
	var list []string
	for h := 1; h <= hosts; h++ {
		list = append(list, natsURL(h))
	}
	return strings.Join(list, ",")
}

// fill fills a disk with a file until full reports that its victim has noticed. It returns what frees the disk.
func fill(ctx context.Context, disk string, noticed func() bool) (free func() error, err error) {
	path := filepath.Join(disk, "filler")
	free = func() error { return os.Remove(path) }
	f, err := os.Create(path)
	if err != nil {
		return free, err
	}
	defer f.Close()
	large, small := make([]byte, 1<<20), make([]byte, 4<<10)
	for deadline := time.Now().Add(5 * time.Minute); time.Now().Before(deadline) && ctx.Err() == nil; time.Sleep(2 * time.Millisecond) {
		for range 1000 { // whatever the victim has freed
			if _, err := f.Write(large); err != nil {
				break
			}
		}
		for range 1000 {
			if _, err := f.Write(small); err != nil {
				break
			}
		}
		if noticed() {
			return free, nil
		}
	}
	return free, fmt.Errorf("the disk %s is full, and for a minute nothing says so", filepath.Base(disk))
}
