package main

import (
	"bufio"
	"fmt"
	"os"
	"runtime/debug"
	"sort"
	"strings"
	"syscall"
	"time"
)

type clocks struct {
	wall    time.Time
	usage   syscall.Rusage
	baseRSS int64
}

func startClocks() clocks {
	var c clocks
	debug.FreeOSMemory()
	c.baseRSS = status("VmRSS")
	syscall.Getrusage(syscall.RUSAGE_SELF, &c.usage)
	c.wall = time.Now()
	return c
}

// status reads a number of /proc/self/status, in KiB where it is a size.
func status(name string) int64 {
	file, err := os.Open("/proc/self/status")
	if err != nil {
		return 0
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		if rest := strings.TrimPrefix(lines.Text(), name+":"); rest != lines.Text() {
			var value int64
			fmt.Sscan(rest, &value)
			return value
		}
	}
	return 0
}

func seconds(from, to syscall.Timeval) float64 {
	return float64(to.Nano()-from.Nano()) / 1e9
}

func print(began clocks, all totals, client string) {
	wall := time.Since(began.wall).Seconds()
	var usage syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &usage)
	threads := status("Threads")
	peak := status("VmHWM")
	debug.FreeOSMemory()
	resident := status("VmRSS")

	sort.Slice(all.latencies, func(i, j int) bool { return all.latencies[i] < all.latencies[j] })
	percentile := func(share float64) float64 {
		if len(all.latencies) == 0 {
			return 0
		}
		return float64(all.latencies[int(share*float64(len(all.latencies)-1))]) / 1e3
	}
	fmt.Printf("{\"client\":%q,\"requests\":%d,\"bytes\":%d,\"errors\":%d,\"wall_s\":%.6f,\"user_s\":%.6f,\"sys_s\":%.6f,"+
		"\"p50_us\":%.2f,\"p99_us\":%.2f,\"base_rss_kib\":%d,\"rss_kib\":%d,\"max_rss_kib\":%d,\"threads\":%d}\n",
		client, all.requests, all.bytes, all.errors, wall, seconds(began.usage.Utime, usage.Utime),
		seconds(began.usage.Stime, usage.Stime), percentile(0.5), percentile(0.99), began.baseRSS, resident, peak, threads)
}
