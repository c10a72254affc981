// SPDX-License-Identifier: Apache-2.0

package pki

import (
	"bytes"
	"crypto/x509"
	"slices"
	"strings"
	"testing"
	"time"
)

var now = time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)

func checked(t *testing.T, r Request) *Request {
	t.Helper()
	if err := r.Check(); err != nil {
		t.Fatal(err)
	}
	return &r
}

func issue(t *testing.T, r *Request, ca *Pair) *Pair {
	t.Helper()
	p, err := Issue(r, ca, nil, now)
	if err != nil {
		t.Fatal(err)
	}
	if why := p.Stale(r, ca, now); why != "" {
		t.Fatalf("it is stale when it is new: %s", why)
	}
	return p
}

func TestEveryKindOfKeySignsAndIsSigned(t *testing.T) {
	for _, ca := range []Request{{Algorithm: "ECDSA"}, {Algorithm: "ECDSA", Size: 384}, {Algorithm: "Ed25519"}, {Algorithm: "RSA"}} {
		ca.CommonName, ca.IsCA, ca.Duration = "ca", true, 8760*time.Hour
		authority := issue(t, checked(t, ca), nil)
		for _, algorithm := range []string{"ECDSA", "Ed25519", "RSA"} {
			leaf := issue(t, checked(t, Request{DNSNames: []string{"a.test"}, Algorithm: algorithm}), authority)
			if err := leaf.Certificate.CheckSignatureFrom(authority.Certificate); err != nil {
				t.Errorf("%s by %s: %v", algorithm, ca.Algorithm, err)
			}
			if !bytes.Equal(leaf.CAPEM, authority.CertificatePEM) {
				t.Errorf("%s by %s: ca.crt is not the authority's", algorithm, ca.Algorithm)
			}
		}
	}
}

func TestMistakesNameTheirField(t *testing.T) {
	good := Request{CommonName: "x"}
	for text, spoil := range map[string]func(*Request){
		"one of commonName":       func(r *Request) { r.CommonName = "" },
		"spec.commonName":         func(r *Request) { r.CommonName = strings.Repeat("x", 65) },
		"spec.duration":           func(r *Request) { r.Duration = time.Minute },
		"spec.renewBefore":        func(r *Request) { r.Duration, r.RenewBefore = time.Hour, time.Hour },
		"spec.ipAddresses":        func(r *Request) { r.IPAddresses = []string{"300.1.1.1"} },
		"spec.usages":             func(r *Request) { r.Usages = []string{"anything"} },
		"spec.privateKey: RSA":    func(r *Request) { r.Algorithm, r.Size = "RSA", 1024 },
		"spec.privateKey: DSA":    func(r *Request) { r.Algorithm = "DSA" },
		"spec.privateKey: Ed2551": func(r *Request) { r.Algorithm, r.Size = "Ed25519", 256 },
	} {
		r := good
		spoil(&r)
		if err := r.Check(); err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestALeafDoesNotOutliveItsAuthority(t *testing.T) {
	ca := issue(t, checked(t, Request{CommonName: "ca", IsCA: true, Duration: 100 * time.Hour}), nil)
	r := checked(t, Request{CommonName: "leaf", Duration: 1000 * time.Hour, RenewBefore: 900 * time.Hour})
	leaf := issue(t, r, ca)
	if !leaf.Certificate.NotAfter.Equal(ca.Certificate.NotAfter) {
		t.Errorf("it ends %v", leaf.Certificate.NotAfter)
	}
	if due := leaf.RenewalTime(r); due.Before(now.Add(66*time.Hour)) || due.After(now.Add(67*time.Hour)) {
		t.Errorf("it would be renewed %v", due)
	}
	if err := ca.CheckCA(now.Add(101 * time.Hour)); err == nil {
		t.Error("an authority that has expired may sign")
	}
	if err := leaf.CheckCA(now); err == nil {
		t.Error("a leaf may sign")
	}
}

func TestDamageIsFound(t *testing.T) {
	a := issue(t, checked(t, Request{CommonName: "a"}), nil)
	b := issue(t, checked(t, Request{CommonName: "b"}), nil)
	half := a.CertificatePEM[:len(a.CertificatePEM)/2]
	for what, parts := range map[string][3][]byte{
		"nothing":         {nil, nil, nil},
		"half":            {half, a.KeyPEM, nil},
		"another's key":   {a.CertificatePEM, b.KeyPEM, nil},
		"no key":          {a.CertificatePEM, a.CertificatePEM, nil},
		"a broken ca.crt": {a.CertificatePEM, a.KeyPEM, half},
	} {
		if _, err := Parse(parts[0], parts[1], parts[2]); err == nil {
			t.Errorf("%s is taken", what)
		}
	}
}

func TestUsagesAndNames(t *testing.T) {
	r := checked(t, Request{CommonName: "x", DNSNames: []string{"B.test", "a.test"}, IPAddresses: []string{"::1", "10.0.0.1"},
		Usages: []string{"client auth", "code signing"}})
	p := issue(t, r, nil)
	want := []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth, x509.ExtKeyUsageCodeSigning}
	if !slices.Equal(p.Certificate.ExtKeyUsage, want) {
		t.Errorf("usages %v", p.Certificate.ExtKeyUsage)
	}
	same := *r
	same.DNSNames, same.IPAddresses = []string{"a.test", "b.test"}, []string{"10.0.0.1", "0:0::1"}
	if why := p.Stale(&same, nil, now); why != "" {
		t.Errorf("the same in another order: %s", why)
	}
}
