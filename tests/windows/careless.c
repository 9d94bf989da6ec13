/* A program without precautions, linked with the libraries that Windows always takes from System32,
 * and with IPHLPAPI.dll, which Windows does not. Like every program with gcc's stack protector, it
 * begins with a random number. */
#include <winsock2.h>

#include <windows.h>

#include <iphlpapi.h>
#include <objbase.h>
#include <setupapi.h>
#include <shellapi.h>
#include <wincrypt.h>

int main(void)
{
	void (*const linked[])(void) = {(void (*)(void))GetAdaptersAddresses,
									(void (*)(void))CoTaskMemFree,
									(void (*)(void))SetupDiDestroyDeviceInfoList,
									(void (*)(void))CommandLineToArgvW,
									(void (*)(void))GetDesktopWindow,
									(void (*)(void))RegCloseKey,
									(void (*)(void))WSAStartup};
	HCRYPTPROV provider;
	int missing = !CryptAcquireContextW(&provider, NULL, NULL, PROV_RSA_FULL, CRYPT_VERIFYCONTEXT);

	for (size_t i = 0; i < sizeof linked / sizeof *linked; i++)
		missing += linked[i] == NULL;
	return missing;
}
