// SPDX-License-Identifier: Apache-2.0

// A client-go program against the streams of an agent's server: remote commands over SPDY and WebSockets, port
// forwarding over SPDY and through a tunnel. Arguments: HOST:PORT, files of certificate, key and CA, a port to forward
// to that echoes, and the parts to run. Prints one line for each thing that worked and ends with status 1 at the first
// that did not.
package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/portforward"
	"k8s.io/client-go/tools/remotecommand"
	"k8s.io/client-go/transport/spdy"
	"k8s.io/client-go/util/exec"
)

func check(what string, err error) {
	if err != nil {
		fmt.Printf("failed: %s: %v\n", what, err)
		os.Exit(1)
	}
	fmt.Println("ok:", what)
}

func expect(what string, got, want any) {
	if got != want {
		check(what, fmt.Errorf("%q, expected %q", got, want))
	}
	fmt.Println("ok:", what)
}

type rig struct {
	config *rest.Config
	host   string
	echo   string
}

func (r *rig) url(path string, query url.Values) *url.URL {
	return &url.URL{Scheme: "https", Host: r.host, Path: path, RawQuery: query.Encode()}
}

type result struct {
	out, err string
	failure  error
}

type maker func(u *url.URL) (remotecommand.Executor, error)

func (r *rig) spdy(u *url.URL) (remotecommand.Executor, error) {
	return remotecommand.NewSPDYExecutor(r.config, "POST", u)
}

// older speaks the versions before the fourth.
func (r *rig) older(version string) maker {
	return func(u *url.URL) (remotecommand.Executor, error) {
		transport, upgrader, err := spdy.RoundTripperFor(r.config)
		if err != nil {
			return nil, err
		}
		return remotecommand.NewSPDYExecutorForProtocols(transport, upgrader, "POST", u, version)
	}
}

func (r *rig) websocket(u *url.URL) (remotecommand.Executor, error) {
	return remotecommand.NewWebSocketExecutor(r.config, "GET", u.String())
}

func (r *rig) websocketV4(u *url.URL) (remotecommand.Executor, error) {
	return remotecommand.NewWebSocketExecutorForProtocols(r.config, "GET", u.String(), "v4.channel.k8s.io")
}

func (r *rig) run(make maker, path string, in io.Reader, tty remotecommand.TerminalSizeQueue, command ...string) result {
	query := url.Values{"command": command, "output": {"1"}}
	var out, stderr bytes.Buffer
	options := remotecommand.StreamOptions{Stdout: &out, Stdin: in}
	if in != nil {
		query.Set("input", "1")
	}
	if tty != nil {
		query.Set("tty", "1")
		options.Tty, options.TerminalSizeQueue = true, tty
	} else {
		query.Set("error", "1")
		options.Stderr = &stderr
	}
	executor, err := make(r.url(path, query))
	check("executor", err)
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	err = executor.StreamWithContext(ctx, options)
	return result{out.String(), stderr.String(), err}
}

const container = "/exec/default/p/c"

func exitCode(err error) int {
	var e exec.CodeExitError
	if errors.As(err, &e) {
		return e.Code
	}
	return -1
}

// sizes gives one size and then nothing more.
type sizes struct{ left []remotecommand.TerminalSize }

func (s *sizes) Next() *remotecommand.TerminalSize {
	if len(s.left) == 0 {
		return nil
	}
	size := s.left[0]
	s.left = s.left[1:]
	return &size
}

func (r *rig) commands(make maker) {
	got := r.run(make, container, nil, nil, "/bin/sh", "-c", "echo out; echo err >&2")
	check("a command", got.failure)
	expect("stdout", got.out, "out\n")
	expect("stderr", got.err, "err\n")

	got = r.run(make, container, nil, nil, "/bin/sh", "-c", "exit 7")
	expect("exit code", exitCode(got.failure), 7)
	got = r.run(make, container, nil, nil, "/bin/sh", "-c", "kill -9 $$")
	expect("exit code of a signal", exitCode(got.failure), 137)
	got = r.run(make, container, nil, nil, "/no/such/program")
	expect("a program that is not there", got.failure != nil, true)

	got = r.run(make, "/exec/default/p/u-1/c", strings.NewReader("hello"), nil, "/bin/cat")
	check("stdin and its end", got.failure)
	expect("what cat says", got.out, "hello")

	large := strings.Repeat("0123456789abcdef", 1<<17) // 2 MiB
	got = r.run(make, container, strings.NewReader(large), nil, "/bin/cat")
	check("much of both", got.failure)
	expect("all of it came back", got.out == large, true)
	got = r.run(make, container, strings.NewReader(large), nil, "/bin/sh", "-c", "sleep 0.2; wc -c; echo done >&2")
	check("a slow reader of stdin", got.failure)
	expect("its count", strings.TrimSpace(got.out), fmt.Sprint(len(large)))
	expect("its end", got.err, "done\n")
	got = r.run(make, container, strings.NewReader(large), nil, "/bin/true")
	check("a program that does not read stdin", got.failure)

	got = r.run(make, container, nil, nil, "/bin/sh", "-c", "head -c 20000000 /dev/zero")
	check("much output", got.failure)
	expect("its length", len(got.out), 20000000)

	got = r.run(make, container, strings.NewReader(""), &sizes{[]remotecommand.TerminalSize{{Width: 123, Height: 45}}},
		"/bin/sh", "-c", "until [ \"$(stty size)\" = '45 123' ]; do sleep 0.05; done; tty >/dev/null && echo sized")
	check("a terminal", got.failure)
	expect("its size", got.out, "sized\r\n")

	got = r.run(make, "/attach/default/p/c", strings.NewReader("attached\n"), nil)
	check("attach", got.failure)
	expect("what is attached", got.out, "attached\n")

	got = r.run(make, "/exec/default/p/silent", nil, nil, "/bin/true")
	expect("a container that does not run", got.failure != nil, true)
}

// old runs what the first version can as well: it has neither exit codes nor an end of stdin.
func (r *rig) old(make maker, version int) {
	got := r.run(make, container, nil, nil, "/bin/sh", "-c", "echo out; echo err >&2")
	check("a command", got.failure)
	expect("stdout", got.out, "out\n")
	expect("stderr", got.err, "err\n")
	if version == 1 {
		return
	}
	got = r.run(make, container, nil, nil, "/bin/sh", "-c", "exit 7")
	expect("a failure", got.failure != nil && strings.Contains(got.failure.Error(), "exit status 7"), true)
	got = r.run(make, container, strings.NewReader("hello"), nil, "/bin/cat")
	check("stdin and its end", got.failure)
	expect("what cat says", got.out, "hello")
}

// leave ends a connection while its command runs.
func (r *rig) leave(make maker) {
	executor, err := make(r.url(container, url.Values{"command": {"/bin/sh", "-c", "echo $$; exec sleep 1000"}, "output": {"1"}}))
	check("executor", err)
	ctx, cancel := context.WithCancel(context.Background())
	reader, writer := io.Pipe()
	done := newErrors()
	go func() {
		done <- executor.StreamWithContext(ctx, remotecommand.StreamOptions{Stdout: writer})
	}()
	var pid int
	_, err = fmt.Fscan(reader, &pid)
	check("it runs", err)
	cancel()
	<-done
	deadline := time.Now().Add(20 * time.Second)
	for alive(pid) && time.Now().Before(deadline) {
		time.Sleep(10 * time.Millisecond)
	}
	expect("a command whose client has left is ended", alive(pid), false)
}

func newErrors() chan error { return make(chan error, 1) }

func alive(pid int) bool {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && !strings.Contains(string(data), ") Z ")
}

func (r *rig) forward(tunnel bool) {
	u := r.url("/portForward/default/p", nil)
	transport, upgrader, err := spdy.RoundTripperFor(r.config)
	check("transport", err)
	dialer := spdy.NewDialer(upgrader, &http.Client{Transport: transport}, "POST", u)
	if tunnel {
		dialer, err = portforward.NewSPDYOverWebsocketDialer(u, r.config)
		check("tunnel", err)
	}
	stop, ready := make(chan struct{}), make(chan struct{})
	var errOut bytes.Buffer
	f, err := portforward.New(dialer, []string{"0:" + r.echo, "0:1"}, stop, ready, io.Discard, &errOut)
	check("forwarder", err)
	failed := make(chan error, 1)
	go func() { failed <- f.ForwardPorts() }()
	select {
	case err := <-failed:
		check("forwarding", err)
	case <-ready:
	}
	ports, err := f.GetPorts()
	check("ports", err)
	r.echoes(ports[0].Local)
	r.echoes(ports[0].Local)
	r.refused(ports[1].Local)
	err = <-failed // client-go gives up after an error
	expect("the client knows why", errors.Is(err, portforward.ErrLostConnectionToPod), true)
}

// echoes uses several connections at once, and ends one direction before the other.
func (r *rig) echoes(port uint16) {
	results := make(chan error, 8)
	data := bytes.Repeat([]byte("echo me "), 1<<17)
	for i := 0; i < cap(results); i++ {
		go func() {
			c, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", port))
			if err != nil {
				results <- err
				return
			}
			defer c.Close()
			go func() {
				_, _ = c.Write(data)
				_ = c.(*net.TCPConn).CloseWrite()
			}()
			got, err := io.ReadAll(c)
			if err == nil && !bytes.Equal(got, data) {
				err = fmt.Errorf("%d bytes of %d came back", len(got), len(data))
			}
			results <- err
		}()
	}
	for i := 0; i < cap(results); i++ {
		check("a forwarded connection", <-results)
	}
}

func (r *rig) refused(port uint16) {
	c, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", port))
	check("a port that is closed in the pod", err)
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(20 * time.Second))
	got, err := io.ReadAll(c)
	expect("nothing came back", len(got), 0)
	var timeout net.Error
	expect("and the connection ended", errors.As(err, &timeout) && timeout.Timeout(), false)
}

func main() {
	if len(os.Args) < 7 {
		fmt.Println("usage: clientstreams HOST:PORT CERT KEY CA ECHO-PORT PART...")
		os.Exit(2)
	}
	r := &rig{host: os.Args[1], echo: os.Args[5], config: &rest.Config{
		Host:            "https://" + os.Args[1],
		TLSClientConfig: rest.TLSClientConfig{CertFile: os.Args[2], KeyFile: os.Args[3], CAFile: os.Args[4]}}}
	parts := map[string]func(){
		"spdy":      func() { r.commands(r.spdy) },
		"websocket": func() { r.commands(r.websocket) },
		"v4":        func() { r.commandsWithoutEnd(r.websocketV4) },
		"v3":        func() { r.old(r.older("v3.channel.k8s.io"), 3) },
		"v2":        func() { r.old(r.older("v2.channel.k8s.io"), 2) },
		"v1":        func() { r.old(r.older("channel.k8s.io"), 1) },
		"leave":     func() { r.leave(r.spdy); r.leave(r.websocket) },
		"forward":   func() { r.forward(false) },
		"tunnel":    func() { r.forward(true) },
	}
	for _, part := range os.Args[6:] {
		parts[part]()
		fmt.Println("done:", part)
	}
}

// commandsWithoutEnd runs what version 4 over WebSockets can: its clients cannot end stdin.
func (r *rig) commandsWithoutEnd(make maker) {
	got := r.run(make, container, nil, nil, "/bin/sh", "-c", "echo out; echo err >&2; exit 3")
	expect("exit code", exitCode(got.failure), 3)
	expect("stdout", got.out, "out\n")
	expect("stderr", got.err, "err\n")
	got = r.run(make, container, strings.NewReader("one line\n"), nil, "/bin/sh", "-c", "read line; echo \"$line\"")
	check("stdin", got.failure)
	expect("what was read", got.out, "one line\n")
}
