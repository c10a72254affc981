// SPDX-License-Identifier: Apache-2.0

package controllers_test

import (
	"crypto/x509"
	"strings"
	"testing"
	"time"

	"dormouse.dev/guests/issuer/controllers"
	"dormouse.dev/guests/issuer/pki"
	"dormouse.dev/sdk/go/meta"
	"dormouse.dev/sdk/go/operatortest"
)

const day = 24 * time.Hour

// rig is the operator with a self-signed authority "ca" and an issuer that signs with it.
type rig struct {
	*operatortest.Env
	t *testing.T
}

func newRig(t *testing.T) *rig {
	env := operatortest.New(t)
	env.AddKind("issuer.dormouse.dev/v1alpha1", "Issuer", "issuers", false)
	env.AddKind("issuer.dormouse.dev/v1alpha1", "Certificate", "certificates", false)
	env.Start(controllers.New(env.Now))
	r := &rig{env, t}
	r.Create(r.issuer("self", ""))
	r.Create(r.issuer("ca", "ca"))
	ca := r.certificate("ca", "self")
	ca.Spec.IsCA, ca.Spec.Duration, ca.Spec.RenewBefore = true, "8760h", "720h"
	r.Create(ca)
	r.Settle()
	return r
}

func (r *rig) issuer(name, secret string) *controllers.Issuer {
	i := &controllers.Issuer{}
	i.Namespace, i.Name = "a", name
	if secret == "" {
		i.Spec.SelfSigned = &struct{}{}
	} else {
		i.Spec.CA = &controllers.CASource{SecretName: secret}
	}
	return i
}

func (r *rig) certificate(name, issuer string) *controllers.Certificate {
	c := &controllers.Certificate{}
	c.Namespace, c.Name = "a", name
	c.Spec.SecretName, c.Spec.IssuerRef.Name, c.Spec.CommonName = name, issuer, name
	return c
}

func (r *rig) secret(name string) *controllers.Secret {
	s := &controllers.Secret{}
	s.Namespace, s.Name = "a", name
	return s
}

func (r *rig) pair(name string) *pki.Pair {
	r.t.Helper()
	s := r.secret(name)
	if !r.Get(s) {
		r.t.Fatalf("there is no secret %s", name)
	}
	p, err := pki.Parse(s.Data["tls.crt"], s.Data["tls.key"], s.Data["ca.crt"])
	if err != nil {
		r.t.Fatalf("secret %s: %v", name, err)
	}
	return p
}

func (r *rig) condition(c *controllers.Certificate) meta.Condition {
	r.t.Helper()
	if !r.Get(c) || len(c.Status.Conditions) != 1 {
		r.t.Fatalf("certificate %s has no condition: %+v", c.Name, c.Status)
	}
	return c.Status.Conditions[0]
}

func TestAnAuthorityAndItsLeaves(t *testing.T) {
	r := newRig(t)
	web := r.certificate("web", "ca")
	web.Spec.DNSNames = []string{"web.test"}
	web.Spec.IPAddresses = []string{"10.0.0.1"}
	r.Create(web)
	r.Settle()
	p, ca := r.pair("web"), r.pair("ca")
	roots := x509.NewCertPool()
	roots.AddCert(ca.Certificate)
	for _, name := range []string{"web.test", "10.0.0.1"} {
		_, err := p.Certificate.Verify(x509.VerifyOptions{DNSName: name, Roots: roots, CurrentTime: r.Now()})
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if c := r.condition(web); c.Status != meta.True || c.Reason != "Issued" {
		t.Errorf("condition: %+v", c)
	}
	if web.Status.Revision != 1 || !web.Status.NotAfter.Equal(r.Now().Add(90*day)) || !web.Status.RenewalTime.Equal(r.Now().Add(60*day)) {
		t.Errorf("status: %+v", web.Status)
	}
	if !r.HasEvent("Issued", "a", "web") || r.Metric("issuer_certificates_issued_total", "a") != 2 {
		t.Errorf("events %v", r.Events)
	}
	s := r.secret("web")
	r.Get(s)
	if s.Type != "kubernetes.io/tls" || len(s.OwnerReferences) != 1 || s.OwnerReferences[0].UID != web.UID {
		t.Errorf("secret: %+v", s)
	}
}

func TestItIsRenewedInTime(t *testing.T) {
	r := newRig(t)
	web := r.certificate("web", "ca")
	r.Create(web)
	r.Settle()
	first := r.pair("web")
	n := len(r.Activations)
	r.Advance(59 * day)
	if len(r.Activations) != n || r.pair("web").Certificate.SerialNumber.Cmp(first.Certificate.SerialNumber) != 0 {
		t.Fatal("something happened before it was time")
	}
	r.Advance(2 * day)
	second := r.pair("web")
	if second.Certificate.SerialNumber.Cmp(first.Certificate.SerialNumber) == 0 || string(second.KeyPEM) == string(first.KeyPEM) {
		t.Fatal("it was not renewed with a new key")
	}
	if r.condition(web); web.Status.Revision != 2 {
		t.Fatalf("revision %d", web.Status.Revision)
	}
	// For years: the authority is renewed as well, leaves follow it, and there is never one that is not valid.
	for range 40 {
		r.Advance(30 * day)
		p, ca := r.pair("web").Certificate, r.pair("ca").Certificate
		if err := p.CheckSignatureFrom(ca); err != nil || r.Now().After(p.NotAfter) || r.Now().After(ca.NotAfter) {
			t.Fatalf("on %v: %v, ends %v, its authority %v", r.Now(), err, p.NotAfter, ca.NotAfter)
		}
	}
	if n := len(r.Activations); n > 300 {
		t.Fatalf("%d activations in three years", n)
	}
}

func TestAChangedSpecIsANewCertificate(t *testing.T) {
	r := newRig(t)
	web := r.certificate("web", "ca")
	web.Spec.PrivateKey.RotationPolicy = "Never"
	r.Create(web)
	r.Settle()
	changes := []func(){
		func() { web.Spec.DNSNames = []string{"b.test"} },
		func() { web.Spec.CommonName = "other" },
		func() { web.Spec.Usages = []string{"client auth", "server auth"} },
		func() { web.Spec.Duration = "100h" },
		func() { web.Spec.IssuerRef.Name = "self" },
		func() { web.Spec.PrivateKey.Size = 384 },
		func() { web.Spec.PrivateKey.Algorithm, web.Spec.PrivateKey.Size = "Ed25519", 0 },
	}
	for i, change := range changes {
		before := r.pair("web")
		r.Get(web)
		change()
		r.Update(web)
		r.Settle()
		after := r.pair("web")
		if before.Certificate.SerialNumber.Cmp(after.Certificate.SerialNumber) == 0 {
			t.Fatalf("change %d had no effect", i)
		}
		if isKept := string(before.KeyPEM) == string(after.KeyPEM); isKept != (i < 5) {
			t.Fatalf("change %d: key kept: %v", i, isKept)
		}
	}
	if r.Get(web); web.Status.Revision != int64(1+len(changes)) {
		t.Fatalf("revision %d", web.Status.Revision)
	}
	n := web.Status.Revision
	r.Get(web)
	web.Labels = map[string]string{"a": "b"}
	r.Update(web)
	r.Settle()
	if r.Get(web); web.Status.Revision != n {
		t.Fatal("a label made a new certificate")
	}
}

func TestADamagedOrDeletedSecretIsPutRight(t *testing.T) {
	r := newRig(t)
	r.Create(r.certificate("web", "ca"))
	r.Settle()
	s := r.secret("web")
	r.Get(s)
	s.Data["tls.key"] = []byte("nonsense")
	r.Update(s)
	r.Settle()
	r.pair("web")
	r.Delete(s)
	r.Settle()
	r.pair("web")
}

func TestAMovedSecretLeavesNothingBehind(t *testing.T) {
	r := newRig(t)
	web := r.certificate("web", "ca")
	r.Create(web)
	r.Settle()
	r.Get(web)
	web.Spec.SecretName = "moved"
	r.Update(web)
	r.Settle()
	r.pair("moved")
	if r.Get(r.secret("web")) {
		t.Fatal("the old secret is still there")
	}
	r.Delete(web)
	r.Settle()
	if r.Get(r.secret("moved")) {
		t.Fatal("the secret has outlived its certificate")
	}
}

func TestAForeignSecretIsLeftAlone(t *testing.T) {
	r := newRig(t)
	foreign := r.secret("web")
	foreign.Type, foreign.Data = "kubernetes.io/tls", map[string][]byte{"tls.crt": []byte("mine"), "tls.key": nil}
	r.Create(foreign)
	web := r.certificate("web", "ca")
	r.Create(web)
	r.Settle()
	if c := r.condition(web); c.Status != meta.False || c.Reason != "SecretTaken" {
		t.Fatalf("condition: %+v", c)
	}
	if r.Get(foreign); string(foreign.Data["tls.crt"]) != "mine" {
		t.Fatal("it was overwritten")
	}
	r.Delete(foreign)
	r.Settle()
	r.pair("web")
}

func TestMistakesAreToldAndMended(t *testing.T) {
	r := newRig(t)
	web := r.certificate("web", "nobody")
	web.Spec.Duration = "1s"
	r.Create(web)
	r.Settle()
	if c := r.condition(web); c.Reason != "InvalidSpec" || !strings.Contains(c.Message, "spec.duration") {
		t.Fatalf("condition: %+v", c)
	}
	web.Spec.Duration = ""
	r.Update(web)
	r.Settle()
	if c := r.condition(web); c.Reason != "IssuerNotFound" {
		t.Fatalf("condition: %+v", c)
	}
	r.Create(r.issuer("nobody", "nowhere"))
	r.Settle()
	if c := r.condition(web); c.Reason != "IssuerNotReady" {
		t.Fatalf("condition: %+v", c)
	}
	if n := len(r.Activations); n > 20 {
		t.Fatalf("%d activations: it does not wait", n)
	}
	leaf := r.certificate("nowhere", "self") // no authority
	r.Create(leaf)
	r.Settle()
	if c := r.condition(web); c.Reason != "IssuerNotReady" || !strings.Contains(c.Message, "authority") {
		t.Fatalf("condition: %+v", c)
	}
	r.Get(leaf)
	leaf.Spec.IsCA = true
	r.Update(leaf)
	r.Settle()
	if c := r.condition(web); c.Status != meta.True {
		t.Fatalf("condition: %+v", c)
	}
}

func TestAnIssuerInUseStays(t *testing.T) {
	r := newRig(t)
	issuer, ca := r.issuer("self", ""), r.certificate("ca", "self")
	r.Delete(issuer)
	r.Settle()
	if !r.Get(issuer) || issuer.Status.Conditions[0].Reason != "InUse" {
		t.Fatalf("%+v", issuer)
	}
	r.Delete(ca)
	r.Settle()
	if r.Get(issuer) {
		t.Fatal("it is still there although nobody uses it")
	}
}

func TestConflictsAreTriedAgain(t *testing.T) {
	r := newRig(t)
	failures := 3
	r.Refuse = func(method, target string) (int, string, string) {
		if method != "GET" && failures > 0 {
			failures--
			return 409, "Conflict", "the object has been modified"
		}
		return 0, "", ""
	}
	web := r.certificate("web", "ca")
	r.Create(web)
	r.Advance(time.Second)
	if c := r.condition(web); c.Status != meta.True || failures != 0 {
		t.Fatalf("condition: %+v, %d failures left", c, failures)
	}
}
