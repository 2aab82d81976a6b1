// Go's net/http with its defaults, but for a pool that keeps as many connections as there are workers.
package main

import (
	"crypto/tls"
	"crypto/x509"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

type options struct {
	operation, url, cacert, file string
	connections, origins         int
	requests, warmup             int64
	seconds                      float64
	gzip, http2                  bool
}

func parse() options {
	usage := func() {
		fmt.Fprintln(os.Stderr, "usage: peer get|download|save|upload --url URL [options of ../README.md]")
		os.Exit(64)
	}
	if len(os.Args) < 2 {
		usage()
	}
	var o options
	o.operation = os.Args[1]
	flags := flag.NewFlagSet("peer", flag.ExitOnError)
	flags.Usage = usage
	flags.StringVar(&o.url, "url", "", "")
	flags.StringVar(&o.cacert, "cacert", "", "")
	flags.StringVar(&o.file, "file", "", "")
	flags.IntVar(&o.connections, "connections", 1, "")
	flags.IntVar(&o.origins, "origins", 1, "")
	flags.Int64Var(&o.requests, "requests", 0, "")
	flags.Int64Var(&o.warmup, "warmup", 0, "")
	flags.Float64Var(&o.seconds, "seconds", 0, "")
	flags.BoolVar(&o.gzip, "gzip", false, "")
	flags.BoolVar(&o.http2, "http2", false, "")
	flags.Parse(os.Args[2:])
	if o.url == "" || flags.NArg() > 0 {
		usage()
	}
	if o.requests == 0 && o.seconds == 0 {
		o.requests = 1
	}
	return o
}

func newClient(o options) *http.Client {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.Proxy = nil
	transport.MaxIdleConns = 0
	transport.MaxIdleConnsPerHost = o.connections
	transport.ForceAttemptHTTP2 = o.http2
	// net/http keeps TLS sessions only when it is given a place for them.
	transport.TLSClientConfig = &tls.Config{ClientSessionCache: tls.NewLRUClientSessionCache(0)}
	if o.cacert != "" {
		if about, err := os.Stat(o.cacert); err == nil && about.IsDir() {
			// Go reads a directory by itself when the environment names it.
			os.Setenv("SSL_CERT_FILE", "/dev/null")
			os.Setenv("SSL_CERT_DIR", o.cacert)
		} else {
			pem, err := os.ReadFile(o.cacert)
			check(err)
			roots := x509.NewCertPool()
			roots.AppendCertsFromPEM(pem)
			transport.TLSClientConfig.RootCAs = roots
		}
	}
	return &http.Client{Transport: transport}
}

// request makes one request and returns the number of bytes of its body, either way.
func request(client *http.Client, o options, url string) (int64, error) {
	var response *http.Response
	var sent int64
	var err error
	if o.operation == "upload" {
		file, err := os.Open(o.file)
		if err != nil {
			return 0, err
		}
		about, err := file.Stat()
		if err != nil {
			return 0, err
		}
		post, err := http.NewRequest("POST", url, file)
		if err != nil {
			return 0, err
		}
		sent = about.Size()
		post.ContentLength = sent
		response, err = client.Do(post)
		if err != nil {
			return 0, err
		}
	} else {
		response, err = client.Get(url)
		if err != nil {
			return 0, err
		}
	}
	defer response.Body.Close()
	if response.StatusCode != 200 {
		return 0, fmt.Errorf("status %d", response.StatusCode)
	}
	switch o.operation {
	case "download":
		return io.Copy(io.Discard, response.Body)
	case "save":
		file, err := os.Create(o.file)
		if err != nil {
			return 0, err
		}
		defer file.Close()
		return io.Copy(file, response.Body)
	default:
		body, err := io.ReadAll(response.Body)
		return sent + int64(len(body)), err
	}
}

type totals struct {
	requests, bytes, errors int64
	latencies               []int64
}

// phase runs the workers until the quota is used up or the time is over.
func phase(client *http.Client, o options, quota int64, seconds float64) totals {
	var deadline time.Time
	if seconds > 0 {
		deadline = time.Now().Add(time.Duration(seconds * float64(time.Second)))
	}
	urls := make([]string, o.origins)
	for i := range urls {
		urls[i] = strings.Replace(o.url, "{}", strconv.Itoa(i+1), 1)
	}
	var started int64
	var lock sync.Mutex
	var all totals
	var workers sync.WaitGroup
	for i := 0; i < o.connections; i++ {
		workers.Add(1)
		go func() {
			defer workers.Done()
			var own totals
			for {
				number := atomic.AddInt64(&started, 1)
				since := time.Now()
				if quota > 0 && number > quota || seconds > 0 && since.After(deadline) {
					break
				}
				bytes, err := request(client, o, urls[(number-1)%int64(len(urls))])
				if err != nil {
					fmt.Fprintln(os.Stderr, err)
					own.errors++
					continue
				}
				own.requests++
				own.bytes += bytes
				own.latencies = append(own.latencies, int64(time.Since(since)))
			}
			lock.Lock()
			all.requests += own.requests
			all.bytes += own.bytes
			all.errors += own.errors
			all.latencies = append(all.latencies, own.latencies...)
			lock.Unlock()
		}()
	}
	workers.Wait()
	return all
}

func main() {
	o := parse()
	client := newClient(o)
	if o.warmup > 0 {
		phase(client, o, o.warmup, 0)
	}
	began := startClocks()
	all := phase(client, o, o.requests, o.seconds)
	print(began, all, "Go net/http, "+strings.TrimPrefix(runtime.Version(), "go"))
	if all.errors > 0 {
		os.Exit(1)
	}
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
