/* What is read of registries and the like: challenges, files of credentials, manifests. */
#include <stdio.h>
#include <string.h>

#include <jitwarm/share.h>
#include <jitwarm/system.h>

#include "base/text.h"
#include "check.h"
#include "net/web.h"
#include "share/artifact.h"
#include "share/login.h"
#include "share/plan_tag.h"

TEST(a_pull_needs_a_name_and_a_system)
{
	static const struct {
		const char *from;
		bool how, system;
	} cases[] = {{"oci://h", true, true}, {"oci://h/a", false, false}, {"oci://h/a", true, false}};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct jw_system machine = {.gpu_count = 0};
		struct jw_import_options how = JW_IMPORT_OPTIONS_INIT;
		struct jw_pull_options options = JW_PULL_OPTIONS_INIT;
		struct jw_pull_result *result = NULL;
		struct jw_error why = {0};

		how.system = cases[i].system ? &machine : NULL;
		options.from = cases[i].from;
		options.how = cases[i].how ? &how : NULL;
		assert_int_equal(jw_pull(&why, &options, &result), -1);
		assert_int_equal(why.code, JW_ERR_USAGE);
		assert_null(result);
	}
}

TEST(the_best_challenge_counts)
{
	struct challenge challenge;

	assert_int_equal(0, challenge_parse(NULL,
										"Negotiate abcd==, Basic realm=\"x, y\", bearer "
										"Realm=\"https://a/\\\"t\" , service = s,scope=\"a b\"",
										&challenge));
	assert_int_equal(challenge.kind, CHALLENGE_BEARER);
	assert_string_equal(challenge.realm, "https://a/\"t");
	assert_string_equal(challenge.service, "s");
	assert_string_equal(challenge.scope, "a b");
	assert_int_equal(0, challenge_parse(NULL, "Basic", &challenge));
	assert_int_equal(challenge.kind, CHALLENGE_BASIC);
	assert_int_equal(-1, challenge_parse(NULL, "Digest realm=x", &challenge));
	assert_int_equal(-1, challenge_parse(NULL, "Bearer service=x", &challenge));
	assert_int_equal(-1, challenge_parse(NULL, "Bearer realm=\"x", &challenge));
	assert_int_equal(-1, challenge_parse(NULL, "", &challenge));
}

static int parse_credentials(const char *text, struct credentials_entry *entry)
{
	return credentials_parse(NULL, text, strlen(text), "h:5000", "lab/cache", entry);
}

TEST(the_most_exact_entry_counts)
{
	struct credentials_entry entry;

	/* eDp5 is x:y, YW5uOnNlOmNyZXQ= ann:se:cret */
	assert_int_equal(0, parse_credentials("{\"auths\": {\"h:5000\": {\"auth\": \"eDp5\"},"
										  "\"h:5000/lab\": {\"auth\": \"YW5uOnNlOmNyZXQ=\"},"
										  "\"h:5000/la\": {\"auth\": \"!\"}}}",
										  &entry));
	assert_string_equal(entry.known.user, "ann");
	assert_string_equal(entry.known.password, "se:cret");
	credentials_free(&entry.known);
	assert_int_equal(0, parse_credentials("{\"auths\": {\"https://h:5000/v1/\": {\"auth\": "
										  "\"eDp5\"}, \"h:50001\": {\"auth\": \"!\"}},"
										  "\"credsStore\": \"all\", \"credHelpers\": "
										  "{\"h:5000\": \"this\", \"h\": \"other\"}}",
										  &entry));
	assert_string_equal(entry.known.user, "x");
	assert_string_equal(entry.helper, "this");
	credentials_free(&entry.known);
	assert_int_equal(0, parse_credentials("{\"credsStore\": \"all\"}", &entry));
	assert_string_equal(entry.helper, "all");
	assert_null(entry.known.user);
	assert_int_equal(-1, parse_credentials("{\"credsStore\": \"../a\"}", &entry));
	/* "a\0:b" */
	assert_int_equal(
		-1, parse_credentials("{\"auths\": {\"h:5000\": {\"auth\": \"YQA6Yg==\"}}}", &entry));
}

TEST(what_fits_is_by_gpu_and_driver)
{
	struct jw_gpu gpu = {.target = {.sm = 86}};
	struct jw_system system = {.gpus = &gpu, .gpu_count = 1};
	struct artifact item = {.targets = "sm_70 sm_86", .stamps = "a,b", .cuda = "12.4,11.8"};

	system.driver.version.cuda = 12020;
	(void)snprintf(system.driver.stamp, sizeof system.driver.stamp, "b");
	assert_true(artifact_fits(&item, &system));
	(void)snprintf(system.driver.stamp, sizeof system.driver.stamp, "c");
	assert_false(artifact_fits(&item, &system));
	system.driver.version.cuda = 11080;
	assert_true(artifact_fits(&item, &system));
	gpu.target.sm = 8;
	assert_false(artifact_fits(&item, &system));
}

TEST(a_tag_is_of_sorted_names)
{
	uint64_t a[] = {3, 1, 2, 3}, b[] = {1, 2, 3}, c[] = {1, 2};
	size_t a_count = 4, b_count = 3, c_count = 2;
	char first[JW_PLAN_TAG], second[JW_PLAN_TAG], third[JW_PLAN_TAG];

	assert_int_equal(0, share_plan_tag(NULL, a, &a_count, first));
	assert_int_equal(0, share_plan_tag(NULL, b, &b_count, second));
	assert_int_equal(0, share_plan_tag(NULL, c, &c_count, third));
	assert_int_equal(a_count, 3);
	assert_string_equal(first, second);
	assert_string_not_equal(first, third);
	/* b2sum -l 256 of "0000000000000001\n0000000000000002\n0000000000000003\n" */
	assert_string_equal(first, "p-7433179f02325e3eb5ed24ce94b1fb1fbf5a5ea1");
	assert_true(reference_is_tag(first));
}

/* As libcurl reports them with OpenSSL, Mbed TLS (old and new) and Schannel */
TEST(certificates_that_prove_nothing_are_explained)
{
	static const struct {
		const char *reason, *hint; /* NULL: none */
	} cases[] = {
		{"SSL certificate problem: certificate has expired", "clock"},
		{"SSL certificate problem: certificate is not yet valid", "clock"},
		{"Cert verify failed: BADCERT_EXPIRED", "clock"},
		{"Cert verify failed: BADCERT_FUTURE", "clock"},
		{"mbedTLS: The certificate validity starts in the future", "clock"},
		{"schannel: SEC_E_CERT_EXPIRED (0x80090328) - The certificate is out of date", "clock"},
		{"schannel: CertGetCertificateChain trust error CERT_TRUST_IS_NOT_TIME_VALID", "clock"},
		{"SSL certificate problem: unable to get local issuer certificate", "CURL_CA_BUNDLE"},
		{"SSL certificate problem: self-signed certificate in certificate chain", "CURL_CA_BUNDLE"},
		{"SSL certificate problem: self signed certificate", "CURL_CA_BUNDLE"},
		{"Cert verify failed: BADCERT_NOT_TRUSTED", "CURL_CA_BUNDLE"},
		{"mbedTLS: The certificate is not correctly signed by the trusted CA", "CURL_CA_BUNDLE"},
		{"schannel: SEC_E_UNTRUSTED_ROOT (0x80090325)", "CURL_CA_BUNDLE"},
		{"schannel: CertGetCertificateChain trust error CERT_TRUST_IS_PARTIAL_CHAIN",
		 "CURL_CA_BUNDLE"},
		{"Cert verify failed: BADCERT_CN_MISMATCH", NULL},
		{"SSL: no alternative certificate subject name matches target host name 'x'", NULL},
	};
	char hint[128];

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		web_say_how_to_prove(cases[i].reason, hint, sizeof hint);
		if (cases[i].hint)
			assert_non_null(strstr(hint, cases[i].hint));
		else
			assert_string_equal(hint, "");
	}
}

/* However many it has, the last one's machines find it. */
TEST(a_pack_names_all_of_its_drivers)
{
	static struct pack_driver drivers[PACK_MOST_DRIVERS];
	const struct pack_manifest manifest = {.drivers = drivers, .driver_count = PACK_MOST_DRIVERS};
	static struct artifact artifact;
	struct jw_system machine = {.gpu_count = 0};

	for (unsigned i = 0; i < PACK_MOST_DRIVERS; i++) {
		drivers[i].cuda = 100000 + 10 * i;
		(void)snprintf(drivers[i].stamp, sizeof drivers[i].stamp, "Apr  8 202512:%02u:%02u", i / 60,
					   i % 60);
	}
	artifact_describe(&artifact, &manifest);
	TEXT_COPY(machine.driver.stamp, drivers[PACK_MOST_DRIVERS - 1].stamp);
	assert_true(artifact_fits(&artifact, &machine));
	TEXT_COPY(machine.driver.stamp, "");
	machine.driver.version.cuda = drivers[PACK_MOST_DRIVERS - 1].cuda;
	assert_true(artifact_fits(&artifact, &machine));
}

RUN_TESTS(NULL, NULL)
