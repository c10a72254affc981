// SPDX-License-Identifier: Apache-2.0

// Package pki makes certificates and decides when a new one is needed. It knows nothing of Kubernetes.
package pki

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"slices"
	"strings"
	"time"
)

// Request is what a certificate is to be.
type Request struct {
	CommonName  string
	DNSNames    []string
	IPAddresses []string
	IsCA        bool
	Duration    time.Duration
	RenewBefore time.Duration
	Usages      []string // see usages
	Algorithm   string   // ECDSA, Ed25519 or RSA
	Size        int      // bits; 0: 256 for ECDSA, 2048 for RSA
}

// MinDuration of a certificate: renewing more often than that is a mistake.
const MinDuration = 5 * time.Minute

var usages = map[string]x509.ExtKeyUsage{
	"server auth":  x509.ExtKeyUsageServerAuth,
	"client auth":  x509.ExtKeyUsageClientAuth,
	"code signing": x509.ExtKeyUsageCodeSigning,
}

// Check fills in defaults and finds mistakes, each with the name of its field.
func (r *Request) Check() error {
	if r.Duration == 0 {
		r.Duration = 90 * 24 * time.Hour
	}
	if r.RenewBefore == 0 {
		r.RenewBefore = r.Duration / 3
	}
	if r.Algorithm == "" {
		r.Algorithm = "ECDSA"
	}
	if r.Size == 0 {
		r.Size = map[string]int{"ECDSA": 256, "RSA": 2048}[r.Algorithm]
	}
	if len(r.Usages) == 0 && !r.IsCA {
		r.Usages = []string{"server auth"}
	}
	switch {
	case r.CommonName == "" && len(r.DNSNames) == 0 && len(r.IPAddresses) == 0:
		return errors.New("spec: one of commonName, dnsNames and ipAddresses is needed")
	case len(r.CommonName) > 64:
		return errors.New("spec.commonName: longer than 64 bytes")
	case r.Duration < MinDuration:
		return fmt.Errorf("spec.duration: less than %v", MinDuration)
	case r.RenewBefore < 0 || r.RenewBefore >= r.Duration:
		return errors.New("spec.renewBefore: not between 0 and the duration")
	}
	for _, s := range r.IPAddresses {
		if net.ParseIP(s) == nil {
			return fmt.Errorf("spec.ipAddresses: '%s' is none", s)
		}
	}
	for _, u := range r.Usages {
		if _, ok := usages[u]; !ok {
			return fmt.Errorf("spec.usages: '%s' is not known", u)
		}
	}
	ok := false
	switch r.Algorithm {
	case "ECDSA":
		ok = r.Size == 256 || r.Size == 384
	case "RSA":
		ok = r.Size == 2048
	case "Ed25519":
		ok = r.Size == 0
	}
	if !ok {
		return fmt.Errorf("spec.privateKey: %s with %d bits is not possible: ECDSA 256 or 384, RSA 2048, Ed25519", r.Algorithm, r.Size)
	}
	return nil
}

// Pair is a certificate with its key, and the authority that has signed it (itself, for a self-signed one).
type Pair struct {
	Certificate *x509.Certificate
	Key         crypto.Signer
	CA          *x509.Certificate
	// As PEM, as they stand in a Secret.
	CertificatePEM, KeyPEM, CAPEM []byte
}

// Parse reads a pair, and checks that key and certificate belong together.
func Parse(certificate, key, ca []byte) (*Pair, error) {
	p := &Pair{CertificatePEM: certificate, KeyPEM: key, CAPEM: ca}
	var err error
	if p.Certificate, err = parseCertificate(certificate); err != nil {
		return nil, fmt.Errorf("tls.crt: %w", err)
	}
	if p.Key, err = parseKey(key); err != nil {
		return nil, fmt.Errorf("tls.key: %w", err)
	}
	public, ok := p.Key.Public().(interface{ Equal(crypto.PublicKey) bool })
	if !ok || !public.Equal(p.Certificate.PublicKey) {
		return nil, errors.New("tls.key: is not the key of tls.crt")
	}
	if len(ca) > 0 {
		if p.CA, err = parseCertificate(ca); err != nil {
			return nil, fmt.Errorf("ca.crt: %w", err)
		}
	}
	return p, nil
}

func parseCertificate(b []byte) (*x509.Certificate, error) {
	block, _ := pem.Decode(b)
	if block == nil || block.Type != "CERTIFICATE" {
		return nil, errors.New("no PEM of a certificate")
	}
	return x509.ParseCertificate(block.Bytes)
}

func parseKey(b []byte) (crypto.Signer, error) {
	block, _ := pem.Decode(b)
	if block == nil {
		return nil, errors.New("no PEM of a key")
	}
	var key any
	var err error
	switch block.Type {
	case "PRIVATE KEY":
		key, err = x509.ParsePKCS8PrivateKey(block.Bytes)
	case "EC PRIVATE KEY":
		key, err = x509.ParseECPrivateKey(block.Bytes)
	case "RSA PRIVATE KEY":
		key, err = x509.ParsePKCS1PrivateKey(block.Bytes)
	default:
		err = fmt.Errorf("a PEM of %s", block.Type)
	}
	if err != nil {
		return nil, err
	}
	signer, ok := key.(crypto.Signer)
	if !ok {
		return nil, fmt.Errorf("a %T cannot sign", key)
	}
	return signer, nil
}

func newKey(r *Request) (crypto.Signer, error) {
	switch r.Algorithm {
	case "RSA":
		return rsa.GenerateKey(rand.Reader, r.Size)
	case "Ed25519":
		_, key, err := ed25519.GenerateKey(rand.Reader)
		return key, err
	}
	if r.Size == 384 {
		return ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	}
	return ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
}

// keyFits says whether a key is of the kind that r asks for.
func keyFits(key crypto.Signer, r *Request) bool {
	switch k := key.(type) {
	case *ecdsa.PrivateKey:
		return r.Algorithm == "ECDSA" && k.Params().BitSize == r.Size
	case *rsa.PrivateKey:
		return r.Algorithm == "RSA" && k.N.BitLen() == r.Size
	case ed25519.PrivateKey:
		return r.Algorithm == "Ed25519"
	}
	return false
}

// Issue makes a certificate from a checked request. ca signs it; without one it signs itself. key is used again
// if it is of the right kind.
func Issue(r *Request, ca *Pair, key crypto.Signer, now time.Time) (*Pair, error) {
	var err error
	if key == nil || !keyFits(key, r) {
		if key, err = newKey(r); err != nil {
			return nil, fmt.Errorf("make a key: %w", err)
		}
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return nil, fmt.Errorf("make a serial number: %w", err)
	}
	now = now.UTC().Truncate(time.Second)
	template := &x509.Certificate{
		SerialNumber:          serial.Add(serial, big.NewInt(1)),
		Subject:               pkix.Name{CommonName: r.CommonName},
		DNSNames:              r.DNSNames,
		NotBefore:             now,
		NotAfter:              now.Add(r.Duration),
		IsCA:                  r.IsCA,
		BasicConstraintsValid: true,
		KeyUsage:              x509.KeyUsageDigitalSignature,
	}
	if r.Algorithm == "RSA" {
		template.KeyUsage |= x509.KeyUsageKeyEncipherment
	}
	if r.IsCA {
		template.KeyUsage |= x509.KeyUsageCertSign | x509.KeyUsageCRLSign
	}
	for _, u := range r.Usages {
		template.ExtKeyUsage = append(template.ExtKeyUsage, usages[u])
	}
	for _, s := range r.IPAddresses {
		template.IPAddresses = append(template.IPAddresses, net.ParseIP(s))
	}
	parent, signer := template, key
	if ca != nil {
		parent, signer = ca.Certificate, ca.Key
		if template.NotAfter.After(parent.NotAfter) {
			template.NotAfter = parent.NotAfter // what outlives its authority is not valid to the end
		}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, key.Public(), signer)
	if err != nil {
		return nil, fmt.Errorf("sign: %w", err)
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, fmt.Errorf("encode the key: %w", err)
	}
	certificate := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	authority := certificate
	if ca != nil {
		authority = ca.CertificatePEM
	}
	return Parse(certificate, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: keyDER}), authority)
}

// CheckCA says why a pair cannot sign certificates now, or nil.
func (p *Pair) CheckCA(now time.Time) error {
	switch {
	case !p.Certificate.IsCA || p.Certificate.KeyUsage&x509.KeyUsageCertSign == 0:
		return errors.New("the certificate is not that of an authority")
	case now.After(p.Certificate.NotAfter):
		return errors.New("the authority's certificate has expired")
	}
	return nil
}

// RenewalTime says when a pair has to be made anew. Of a certificate cut short by its authority's end it is
// never earlier than two thirds of its life, so that it is not renewed over and over.
func (p *Pair) RenewalTime(r *Request) time.Time {
	life := p.Certificate.NotAfter.Sub(p.Certificate.NotBefore)
	before := r.RenewBefore
	if life < r.Duration {
		before = min(before, life/3)
	}
	return p.Certificate.NotAfter.Add(-before)
}

// Stale says why a pair is not what a checked request asks for now; "" if it is.
func (p *Pair) Stale(r *Request, ca *Pair, now time.Time) string {
	c := p.Certificate
	var ips []string
	for _, ip := range c.IPAddresses {
		ips = append(ips, ip.String())
	}
	var wanted []string
	for _, s := range r.IPAddresses {
		wanted = append(wanted, net.ParseIP(s).String())
	}
	var have []string
	for name, u := range usages {
		if slices.Contains(c.ExtKeyUsage, u) {
			have = append(have, name)
		}
	}
	authority := p.Certificate
	if ca != nil {
		authority = ca.Certificate
	}
	switch {
	case c.Subject.CommonName != r.CommonName:
		return "commonName changed"
	case !sameSet(c.DNSNames, r.DNSNames):
		return "dnsNames changed"
	case !sameSet(ips, wanted):
		return "ipAddresses changed"
	case c.IsCA != r.IsCA:
		return "isCA changed"
	case !sameSet(have, r.Usages):
		return "usages changed"
	case !keyFits(p.Key, r):
		return "privateKey changed"
	case c.NotAfter.Sub(c.NotBefore) != r.Duration && (ca == nil || !c.NotAfter.Equal(ca.Certificate.NotAfter)):
		return "duration changed"
	case !bytes.Equal(c.RawIssuer, authority.RawSubject) || c.CheckSignatureFrom(authority) != nil && ca != nil:
		return "the issuer's certificate changed"
	case ca != nil && !bytes.Equal(bytes.TrimSpace(p.CAPEM), bytes.TrimSpace(ca.CertificatePEM)):
		return "ca.crt is not the issuer's"
	case !now.Before(p.RenewalTime(r)):
		return "it is time to renew it"
	}
	return ""
}

func sameSet(a, b []string) bool {
	norm := func(l []string) []string {
		l = slices.Clone(l)
		for i := range l {
			l[i] = strings.ToLower(l[i])
		}
		slices.Sort(l)
		return slices.Compact(l)
	}
	return slices.Equal(norm(a), norm(b))
}
