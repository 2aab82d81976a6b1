// OpenSSL 3 for Swift: the headers, and a static inline function for each macro or typed stack call that Swift
// cannot import. Nothing here decides anything.

#ifndef COPENSSL_SHIM_H
#define COPENSSL_SHIM_H

#include <openssl/opensslv.h>
#if OPENSSL_VERSION_NUMBER < 0x30000000L
#error "OpenSSL 3.0 or later is needed (Debian, Ubuntu: libssl-dev; Fedora: openssl-devel; Alpine: openssl-dev)"
#endif

#include <openssl/asn1.h>
#include <openssl/bio.h>
#include <openssl/crypto.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/objects.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>
#include <openssl/ssl.h>
#include <openssl/tls1.h>
#include <openssl/x509.h>
#include <openssl/x509_vfy.h>
#include <openssl/x509v3.h>

// MARK: Errors

static inline unsigned long shim_err_peek(void) { return ERR_peek_error(); }
static inline int shim_err_lib(unsigned long code) { return ERR_GET_LIB(code); }
static inline int shim_err_reason(unsigned long code) { return ERR_GET_REASON(code); }

// MARK: BIO

static inline void shim_bio_want_read(BIO *bio) {
    BIO_clear_retry_flags(bio);
    BIO_set_retry_read(bio);
}
static inline void shim_bio_clear_retry(BIO *bio) { BIO_clear_retry_flags(bio); }
static inline long shim_bio_mem_data(BIO *bio, char **data) { return BIO_get_mem_data(bio, data); }

// MARK: Stacks

static inline STACK_OF(X509) *shim_certs_new(void) { return sk_X509_new_null(); }
static inline int shim_certs_count(const STACK_OF(X509) *stack) { return stack ? sk_X509_num(stack) : 0; }
static inline X509 *shim_certs_get(const STACK_OF(X509) *stack, int index) { return sk_X509_value(stack, index); }
static inline int shim_certs_push(STACK_OF(X509) *stack, X509 *cert) { return sk_X509_push(stack, cert); }
static inline void shim_certs_free(STACK_OF(X509) *stack) { sk_X509_free(stack); }
static inline void shim_certs_free_all(STACK_OF(X509) *stack) { sk_X509_pop_free(stack, X509_free); }

static inline int shim_names_count(const STACK_OF(X509_NAME) *stack) { return stack ? sk_X509_NAME_num(stack) : 0; }
static inline X509_NAME *shim_names_get(const STACK_OF(X509_NAME) *stack, int index) {
    return sk_X509_NAME_value(stack, index);
}

// MARK: Certificates

static inline const unsigned char *shim_x509_serial(X509 *cert, int *length) {
    const ASN1_INTEGER *serial = X509_get0_serialNumber(cert);
    *length = serial ? ASN1_STRING_length((const ASN1_STRING *)serial) : 0;
    return serial ? ASN1_STRING_get0_data((const ASN1_STRING *)serial) : NULL;
}
static inline int shim_x509_serial_is_negative(X509 *cert) {
    const ASN1_INTEGER *serial = X509_get0_serialNumber(cert);
    return serial != NULL && ASN1_STRING_type((const ASN1_STRING *)serial) == V_ASN1_NEG_INTEGER;
}
// The value of the first extension with this NID, or NULL.
static inline const unsigned char *shim_x509_extension(const X509 *cert, int nid, int *length) {
    int index = X509_get_ext_by_NID(cert, nid, -1);
    *length = 0;
    if (index < 0) return NULL;
    const ASN1_OCTET_STRING *value = X509_EXTENSION_get_data(X509_get_ext(cert, index));
    if (value == NULL) return NULL;
    *length = ASN1_STRING_length((const ASN1_STRING *)value);
    return ASN1_STRING_get0_data((const ASN1_STRING *)value);
}
// Seconds since 1970 in UTC; answers 0 when the certificate's time cannot be read.
static inline int shim_asn1_time(const ASN1_TIME *time, long long *seconds) {
    struct tm tm = {0};
    *seconds = 0;
    if (time == NULL || !ASN1_TIME_to_tm(time, &tm)) return 0;
    // Days since 1970-01-01 in the proleptic Gregorian calendar, years beginning in March.
    long long month = tm.tm_mon + 1, year = (long long)tm.tm_year + 1900 - (month <= 2);
    long long era = (year >= 0 ? year : year - 399) / 400, yearOfEra = year - era * 400;
    long long dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + tm.tm_mday - 1;
    long long days = era * 146097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719468;
    *seconds = days * 86400 + tm.tm_hour * 3600LL + tm.tm_min * 60LL + tm.tm_sec;
    return 1;
}
static inline int shim_x509_not_before(const X509 *cert, long long *seconds) {
    return shim_asn1_time(X509_get0_notBefore(cert), seconds);
}
static inline int shim_x509_not_after(const X509 *cert, long long *seconds) {
    return shim_asn1_time(X509_get0_notAfter(cert), seconds);
}
// The name in the manner of RFC 2253, with UTF-8 left readable and control characters escaped.
static inline int shim_x509_name_print(BIO *bio, const X509_NAME *name) {
    return X509_NAME_print_ex(bio, name, 0, XN_FLAG_RFC2253 & ~ASN1_STRFLGS_ESC_MSB);
}
static inline unsigned long shim_x509_name_hash(const X509_NAME *name) {
    return X509_NAME_hash_ex(name, NULL, NULL, NULL);
}
static inline EVP_PKEY *shim_key_generate_ec(const char *curve) {
    return EVP_PKEY_Q_keygen(NULL, NULL, "EC", curve);
}
static inline EVP_PKEY *shim_key_generate_rsa(size_t bits) { return EVP_PKEY_Q_keygen(NULL, NULL, "RSA", bits); }
static inline EVP_PKEY *shim_key_generate_named(const char *type) { return EVP_PKEY_Q_keygen(NULL, NULL, type); }

// MARK: TLS

static inline long shim_ctx_set_mode(SSL_CTX *ctx, long mode) { return SSL_CTX_set_mode(ctx, mode); }
static inline long shim_ctx_set_min(SSL_CTX *ctx, int version) { return SSL_CTX_set_min_proto_version(ctx, version); }
static inline long shim_ctx_set_max(SSL_CTX *ctx, int version) { return SSL_CTX_set_max_proto_version(ctx, version); }
static inline long shim_ctx_set_cache_mode(SSL_CTX *ctx, long mode) {
    return SSL_CTX_set_session_cache_mode(ctx, mode);
}
static inline void shim_ctx_set_options(SSL_CTX *ctx, uint64_t options) { SSL_CTX_set_options(ctx, options); }
static inline long shim_ctx_set_servername_callback(SSL_CTX *ctx, int (*callback)(SSL *, int *, void *)) {
    return SSL_CTX_set_tlsext_servername_callback(ctx, callback);
}
static inline long shim_ctx_add_chain(SSL_CTX *ctx, X509 *cert) { return SSL_CTX_add1_chain_cert(ctx, cert); }
static inline uint64_t shim_op_no_renegotiation(void) { return (uint64_t)SSL_OP_NO_RENEGOTIATION; }
static inline uint64_t shim_op_no_compression(void) { return (uint64_t)SSL_OP_NO_COMPRESSION; }
static inline uint64_t shim_op_no_ticket(void) { return (uint64_t)SSL_OP_NO_TICKET; }
static inline int shim_ctx_index(void) { return SSL_CTX_get_ex_new_index(0, NULL, NULL, NULL, NULL); }
static inline int shim_ssl_index(void) { return SSL_get_ex_new_index(0, NULL, NULL, NULL, NULL); }
static inline long shim_ssl_set_server_name(SSL *ssl, const char *name) { return SSL_set_tlsext_host_name(ssl, name); }
static inline int shim_ssl_retry_verify(SSL *ssl) { return SSL_set_retry_verify(ssl) > 0 ? 1 : 0; }

#endif
