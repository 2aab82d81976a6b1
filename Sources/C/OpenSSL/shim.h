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
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/objects.h>
#include <openssl/ocsp.h>
#include <openssl/param_build.h>
#include <openssl/pem.h>
#include <openssl/pkcs12.h>
#include <openssl/provider.h>
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

// The size of an RSA key's public exponent.
static inline int shim_rsa_exponent_bits(const EVP_PKEY *key) {
    BIGNUM *exponent = NULL;
    if (EVP_PKEY_get_bn_param(key, OSSL_PKEY_PARAM_RSA_E, &exponent) != 1) return 0;
    int bits = BN_num_bits(exponent);
    BN_free(exponent);
    return bits;
}
// The curve of an elliptic curve key that names it; NID_undef for one that spells out its parameters.
static inline int shim_ec_curve(const EVP_PKEY *key) {
    char name[64];
    size_t length = 0;
    int isExplicit = 0;
    // OpenSSL finds the name of a curve that is spelled out, too.
    if (EVP_PKEY_get_int_param(key, OSSL_PKEY_PARAM_EC_DECODED_FROM_EXPLICIT_PARAMS, &isExplicit) == 1 && isExplicit) {
        return NID_undef;
    }
    if (EVP_PKEY_get_group_name(key, name, sizeof(name), &length) != 1) return NID_undef;
    int nid = OBJ_txt2nid(name);
    return nid == NID_undef ? EC_curve_nist2nid(name) : nid;
}
// The name in the manner of RFC 2253, with UTF-8 left readable and control characters escaped.
static inline int shim_x509_name_print(BIO *bio, const X509_NAME *name) {
    return X509_NAME_print_ex(bio, name, 0, XN_FLAG_RFC2253 & ~ASN1_STRFLGS_ESC_MSB);
}
static inline unsigned long shim_x509_name_hash(const X509_NAME *name) {
    return X509_NAME_hash_ex(name, NULL, NULL, NULL);
}
// Whether this key has signed an OCSP response.
static inline int shim_ocsp_verify(OCSP_BASICRESP *response, EVP_PKEY *key) {
    return ASN1_item_verify(
        ASN1_ITEM_rptr(OCSP_RESPDATA), OCSP_resp_get0_tbs_sigalg(response),
        (ASN1_BIT_STRING *)OCSP_resp_get0_signature(response), (void *)OCSP_resp_get0_respdata(response), key);
}
// The hash under an OCSP response's signature; NID_undef where the algorithm says it otherwise, or has none.
static inline int shim_ocsp_hash(const OCSP_BASICRESP *response) {
    const ASN1_OBJECT *name = NULL;
    int hash = NID_undef;
    X509_ALGOR_get0(&name, NULL, NULL, OCSP_resp_get0_tbs_sigalg(response));
    OBJ_find_sigid_algs(OBJ_obj2nid(name), &hash, NULL);
    return hash;
}
static inline int shim_ocsp_single(
    OCSP_SINGLERESP *entry, int *reason, ASN1_GENERALIZEDTIME **start, ASN1_GENERALIZEDTIME **end) {
    return OCSP_single_get0_status(entry, reason, NULL, start, end);
}
static inline const unsigned char *shim_time_text(const ASN1_GENERALIZEDTIME *time, int *length) {
    *length = ASN1_STRING_length((const ASN1_STRING *)time);
    return ASN1_STRING_get0_data((const ASN1_STRING *)time);
}
// MARK: Encryption under a passphrase

// How often a key derivation (PBES1, PBES2 or PBMAC1 with PBKDF2) repeats its hash; -1 for one that is read by none of
// these forms.
static inline int64_t shim_pbe_rounds(const X509_ALGOR *algorithm) {
    const ASN1_OBJECT *name = NULL;
    const void *parameters = NULL;
    int type = V_ASN1_UNDEF;
    int64_t rounds = -1;
    if (algorithm == NULL) return -1;
    X509_ALGOR_get0(&name, &type, &parameters, algorithm);
    if (type != V_ASN1_SEQUENCE) return -1;
    int kind = OBJ_obj2nid(name);
    if (kind == NID_pbes2 || kind == NID_pbmac1) {
        // PBMAC1-params has the same form (RFC 8018 appendix A.5).
        PBE2PARAM *outer = (PBE2PARAM *)ASN1_item_unpack((const ASN1_STRING *)parameters, ASN1_ITEM_rptr(PBE2PARAM));
        if (outer == NULL) return -1;
        X509_ALGOR_get0(&name, &type, &parameters, outer->keyfunc);
        if (OBJ_obj2nid(name) == NID_id_pbkdf2 && type == V_ASN1_SEQUENCE) {
            PBKDF2PARAM *inner =
                (PBKDF2PARAM *)ASN1_item_unpack((const ASN1_STRING *)parameters, ASN1_ITEM_rptr(PBKDF2PARAM));
            if (inner != NULL && ASN1_INTEGER_get_int64(&rounds, inner->iter) != 1) rounds = -1;
            PBKDF2PARAM_free(inner);
        }
        PBE2PARAM_free(outer);
    } else {
        PBEPARAM *inner = (PBEPARAM *)ASN1_item_unpack((const ASN1_STRING *)parameters, ASN1_ITEM_rptr(PBEPARAM));
        if (inner != NULL && ASN1_INTEGER_get_int64(&rounds, inner->iter) != 1) rounds = -1;
        PBEPARAM_free(inner);
    }
    return rounds;
}
// The rounds of a PKCS #12 file's MAC, where no count means one.
static inline int64_t shim_pkcs12_mac_rounds(const PKCS12 *file) {
    const X509_ALGOR *algorithm = NULL;
    const ASN1_INTEGER *count = NULL;
    const ASN1_OBJECT *name = NULL;
    int64_t rounds = -1;
    PKCS12_get0_mac(NULL, &algorithm, NULL, &count, file);
    if (algorithm == NULL) return -1;
    X509_ALGOR_get0(&name, NULL, NULL, algorithm);
    if (OBJ_obj2nid(name) == NID_pbmac1) return shim_pbe_rounds(algorithm);
    if (count == NULL) return 1;
    return ASN1_INTEGER_get_int64(&rounds, count) == 1 ? rounds : -1;
}
// How a part of a PKCS #12 file is encrypted; NULL for parts that are not.
static inline const X509_ALGOR *shim_p7_encryption(PKCS7 *part) {
    if (!PKCS7_type_is_encrypted(part) || part->d.encrypted == NULL || part->d.encrypted->enc_data == NULL) return NULL;
    return part->d.encrypted->enc_data->algorithm;
}
// Decrypts such a part in this library context; NULL where that cannot be done.
static inline STACK_OF(PKCS12_SAFEBAG) *shim_p7_open(
    PKCS7 *part, const char *passphrase, int count, OSSL_LIB_CTX *context
) {
    PKCS7_ENC_CONTENT *content = part->d.encrypted->enc_data;
    if (content->enc_data == NULL) return NULL;
    return (STACK_OF(PKCS12_SAFEBAG) *)PKCS12_item_decrypt_d2i_ex(
        content->algorithm, ASN1_ITEM_rptr(PKCS12_SAFEBAGS), passphrase, count, content->enc_data, 1, context, NULL);
}
static inline int shim_p7_is_data(PKCS7 *part) { return PKCS7_type_is_data(part) && part->d.data != NULL; }
static inline int shim_parts_count(const STACK_OF(PKCS7) *stack) { return stack ? sk_PKCS7_num(stack) : 0; }
static inline PKCS7 *shim_parts_get(const STACK_OF(PKCS7) *stack, int index) { return sk_PKCS7_value(stack, index); }
static inline void shim_parts_free_all(STACK_OF(PKCS7) *stack) { sk_PKCS7_pop_free(stack, PKCS7_free); }
static inline int shim_bags_count(const STACK_OF(PKCS12_SAFEBAG) *stack) {
    return stack ? sk_PKCS12_SAFEBAG_num(stack) : 0;
}
static inline PKCS12_SAFEBAG *shim_bags_get(const STACK_OF(PKCS12_SAFEBAG) *stack, int index) {
    return sk_PKCS12_SAFEBAG_value(stack, index);
}
static inline void shim_bags_free_all(STACK_OF(PKCS12_SAFEBAG) *stack) {
    sk_PKCS12_SAFEBAG_pop_free(stack, PKCS12_SAFEBAG_free);
}
static inline const X509_ALGOR *shim_sig_algorithm(const X509_SIG *encrypted) {
    const X509_ALGOR *algorithm = NULL;
    X509_SIG_get0(encrypted, &algorithm, NULL);
    return algorithm;
}
// The kind of a private key that is encoded but not decoded yet.
static inline int shim_key_info_kind(const PKCS8_PRIV_KEY_INFO *info) {
    const ASN1_OBJECT *name = NULL;
    return PKCS8_pkey_get0(&name, NULL, NULL, NULL, info) == 1 ? OBJ_obj2nid(name) : NID_undef;
}

// MARK: Keys

// A number of a key, such as a coordinate, in so many octets; answers 1 when that was possible.
static inline int shim_key_number(const EVP_PKEY *key, const char *name, unsigned char *octets, int count) {
    BIGNUM *number = NULL;
    if (EVP_PKEY_get_bn_param(key, name, &number) != 1) return 0;
    int written = BN_bn2binpad(number, octets, count);
    BN_clear_free(number);
    return written == count;
}
static inline EVP_PKEY *shim_key_build_ec(
    OSSL_PARAM_BLD *builder, const char *curve, const unsigned char *point, size_t point_length,
    const BIGNUM *secret) {
    EVP_PKEY *key = NULL;
    int ready = OSSL_PARAM_BLD_push_utf8_string(builder, OSSL_PKEY_PARAM_GROUP_NAME, curve, 0) == 1 &&
        OSSL_PARAM_BLD_push_octet_string(builder, OSSL_PKEY_PARAM_PUB_KEY, point, point_length) == 1 &&
        (secret == NULL || OSSL_PARAM_BLD_push_BN(builder, OSSL_PKEY_PARAM_PRIV_KEY, secret) == 1);
    OSSL_PARAM *parameters = ready ? OSSL_PARAM_BLD_to_param(builder) : NULL;
    EVP_PKEY_CTX *context = parameters ? EVP_PKEY_CTX_new_from_name(NULL, "EC", NULL) : NULL;
    if (context != NULL && EVP_PKEY_fromdata_init(context) == 1) {
        EVP_PKEY_fromdata(context, &key, secret ? EVP_PKEY_KEYPAIR : EVP_PKEY_PUBLIC_KEY, parameters);
    }
    EVP_PKEY_CTX_free(context);
    OSSL_PARAM_free(parameters);
    return key;
}
// The key of a point on a curve, with the number that belongs to it if one is given; NULL when they are none.
static inline EVP_PKEY *shim_key_from_point(
    const char *curve, const unsigned char *point, size_t point_length, const unsigned char *secret,
    size_t secret_length) {
    OSSL_PARAM_BLD *builder = OSSL_PARAM_BLD_new();
    BIGNUM *number = secret ? BN_bin2bn(secret, (int)secret_length, NULL) : NULL;
    EVP_PKEY *key = NULL;
    if (builder != NULL && (secret == NULL || number != NULL)) {
        key = shim_key_build_ec(builder, curve, point, point_length, number);
    }
    OSSL_PARAM_BLD_free(builder);
    BN_clear_free(number);
    EVP_PKEY_CTX *context = key ? EVP_PKEY_CTX_new_from_pkey(NULL, key, NULL) : NULL;
    int good = context != NULL && (secret ? EVP_PKEY_check(context) : EVP_PKEY_public_check(context)) == 1;
    EVP_PKEY_CTX_free(context);
    if (good) return key;
    EVP_PKEY_free(key);
    return NULL;
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
static inline long shim_ctx_set_fragment(SSL_CTX *ctx, long most) { return SSL_CTX_set_max_send_fragment(ctx, most); }
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
static inline long shim_ctx_ask_for_status(SSL_CTX *ctx) {
    return SSL_CTX_set_tlsext_status_type(ctx, TLSEXT_STATUSTYPE_ocsp);
}
static inline long shim_ssl_set_extension_callback(
    SSL *ssl, void (*callback)(SSL *, int, int, const unsigned char *, int, void *)) {
    return SSL_set_tlsext_debug_callback(ssl, callback);
}
static inline long shim_ctx_set_status_callback(SSL_CTX *ctx, int (*callback)(SSL *, void *)) {
    return SSL_CTX_set_tlsext_status_cb(ctx, callback);
}
static inline long shim_ssl_stapled(SSL *ssl, const unsigned char **response) {
    return SSL_get_tlsext_status_ocsp_resp(ssl, response);
}
// Staples a copy of the response; answers 1 when that was possible.
static inline int shim_ssl_staple(SSL *ssl, const unsigned char *response, size_t length) {
    unsigned char *copy = OPENSSL_memdup(response, length);
    if (copy == NULL) return 0;
    if (SSL_set_tlsext_status_ocsp_resp(ssl, copy, length) == 1) return 1;
    OPENSSL_free(copy);
    return 0;
}
static inline int shim_ssl_retry_verify(SSL *ssl) { return SSL_set_retry_verify(ssl) > 0 ? 1 : 0; }

#endif
