// Built before the targets that need packages of the trait: their own errors would only tell of modules that are missing.
#if !Server
    #error(
        "HalcyonServer, HalcyonS3, HalcyonTelemetry need the trait Server: traits: [\"Server\"]"
    )
#endif
