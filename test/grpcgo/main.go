// SPDX-License-Identifier: Apache-2.0

// grpc-go as a peer of test/grpc_peer.c: "serve" prints its port and echoes messages until its input ends; "call PORT"
// makes calls of all kinds, prints one line for each that went right and ends with status 1 at the first that did not.
// Messages are bytes.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)

// plain is a codec that leaves bytes as they are.
type plain struct{}

func (plain) Marshal(v any) ([]byte, error) { return *v.(*[]byte), nil }
func (plain) Unmarshal(data []byte, v any) error {
	*v.(*[]byte) = append([]byte{}, data...)
	return nil
}
func (plain) Name() string { return "proto" }

var bothWays = &grpc.StreamDesc{ServerStreams: true, ClientStreams: true}

func must(ok bool, what string, details ...any) {
	if !ok {
		fmt.Println("failed:", what, details)
		os.Exit(1)
	}
	fmt.Println("ok:", what)
}

func echo(_ any, stream grpc.ServerStream) error {
	if method, _ := grpc.MethodFromServerStream(stream); method == "/t.T/Refuse" {
		return status.Error(codes.FailedPrecondition, "nicht für 100%")
	}
	md, _ := metadata.FromIncomingContext(stream.Context())
	_ = stream.SetHeader(metadata.Pairs("x-initial", "go"))
	stream.SetTrailer(metadata.Pairs("x-key", md.Get("x-key")[0]))
	for {
		var message []byte
		if err := stream.RecvMsg(&message); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		if err := stream.SendMsg(&message); err != nil {
			return err
		}
	}
}

func serve() {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	fmt.Println(listener.Addr().(*net.TCPAddr).Port)
	server := grpc.NewServer(grpc.UnknownServiceHandler(echo))
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		server.Stop()
	}()
	_ = server.Serve(listener)
}

func unaryCalls(ctx context.Context, conn *grpc.ClientConn) {
	in, out := []byte("hello"), []byte{}
	var head, trailer metadata.MD
	err := conn.Invoke(metadata.AppendToOutgoingContext(ctx, "x-key", "mine"), "/t.T/Echo", &in, &out,
		grpc.Header(&head), grpc.Trailer(&trailer))
	must(err == nil && string(out) == "hello", "unary", err)
	must(head.Get("x-initial")[0] == "early" && trailer.Get("x-key")[0] == "mine", "metadata", head, trailer)
	err = conn.Invoke(ctx, "/t.T/Refuse", &in, &out)
	must(status.Code(err) == codes.FailedPrecondition && status.Convert(err).Message() == "nicht für 100%\n", "status", err)
	err = conn.Invoke(ctx, "/t.T/Missing", &in, &out)
	must(status.Code(err) == codes.Unimplemented, "no such method", err)
	short, cancel := context.WithTimeout(ctx, 200*time.Millisecond)
	defer cancel()
	err = conn.Invoke(short, "/t.T/Hold", &in, &out)
	must(status.Code(err) == codes.DeadlineExceeded, "deadline", err)
}

// So much that its pings, one per round trip to measure the bandwidth, are thousands.
func pour(ctx context.Context, conn *grpc.ClientConn, n int) {
	stream, err := conn.NewStream(ctx, bothWays, "/t.T/Pour")
	must(err == nil, "stream", err)
	request := []byte(strconv.Itoa(n))
	_ = stream.SendMsg(&request)
	_ = stream.CloseSend()
	got := 0
	for {
		var message []byte
		if err = stream.RecvMsg(&message); err != nil {
			break
		}
		got++
	}
	must(errors.Is(err, io.EOF) && got == n, "a long answer", err, got)
}

func turns(ctx context.Context, conn *grpc.ClientConn, n int) {
	stream, err := conn.NewStream(ctx, bothWays, "/t.T/Echo")
	must(err == nil, "stream", err)
	for i := 0; i < n && err == nil; i++ {
		sent, got := []byte(strconv.Itoa(i)), []byte{}
		if err = stream.SendMsg(&sent); err == nil {
			err = stream.RecvMsg(&got)
		}
		if err == nil && string(sent) != string(got) {
			err = fmt.Errorf("%q came back as %q", sent, got)
		}
	}
	must(err == nil, "many turns", err)
	_ = stream.CloseSend()
	var message []byte
	must(errors.Is(stream.RecvMsg(&message), io.EOF), "their end")
}

func main() {
	encoding.RegisterCodec(plain{})
	if len(os.Args) == 2 && os.Args[1] == "serve" {
		serve()
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), 60*time.Second)
	defer cancel()
	conn, err := grpc.NewClient("127.0.0.1:"+os.Args[2], grpc.WithTransportCredentials(insecure.NewCredentials()))
	must(err == nil, "client", err)
	unaryCalls(ctx, conn)
	pour(ctx, conn, 50000)
	turns(ctx, conn, 5000)
	fmt.Println("done")
}
