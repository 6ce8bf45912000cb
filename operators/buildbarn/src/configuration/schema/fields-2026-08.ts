/**
 * Every field of the configuration of Buildbarn's programs of August 2026, with its type. Names of
 * messages are within `buildbarn.configuration`, unless they begin with `google`, `build` or
 * `opentelemetry`.
 */
export const fields2026 = `
bb_storage.ApplicationConfiguration
  grpcServers: []grpc.ServerConfiguration
  schedulers: map<string,builder.SchedulerConfiguration>
  maximumMessageSizeBytes: int64
  global: global.Configuration
  contentAddressableStorage: bb_storage.ScannableBlobAccessConfiguration
  actionCache: bb_storage.NonScannableBlobAccessConfiguration
  indirectContentAddressableStorage: bb_storage.ScannableBlobAccessConfiguration
  initialSizeClassCache: bb_storage.NonScannableBlobAccessConfiguration
  fileSystemAccessCache: bb_storage.NonScannableBlobAccessConfiguration
  executeAuthorizer: auth.AuthorizerConfiguration
  supportedCompressors: []enum build.bazel.remote.execution.v2.Compressor.Value{IDENTITY|ZSTD|DEFLATE|BROTLI}
  zstdPool: zstd.PoolConfiguration

bb_scheduler.ApplicationConfiguration
  clientGrpcServers: []grpc.ServerConfiguration
  workerGrpcServers: []grpc.ServerConfiguration
  browserUrl: string
  contentAddressableStorage: blobstore.BlobAccessConfiguration
  maximumMessageSizeBytes: int64
  global: global.Configuration
  buildQueueStateGrpcServers: []grpc.ServerConfiguration
  predeclaredPlatformQueues: []bb_scheduler.PredeclaredPlatformQueueConfiguration
  executeAuthorizer: auth.AuthorizerConfiguration
  actionRouter: scheduler.ActionRouterConfiguration
  initialSizeClassCache: blobstore.BlobAccessConfiguration
  platformQueueWithNoWorkersTimeout: google.protobuf.Duration
  adminHttpServers: []http.server.Configuration
  modifyDrainsAuthorizer: auth.AuthorizerConfiguration
  killOperationsAuthorizer: auth.AuthorizerConfiguration
  adminRoutePrefix: string
  synchronizeAuthorizer: auth.AuthorizerConfiguration
  zstdPool: zstd.PoolConfiguration

bb_worker.ApplicationConfiguration
  blobstore: blobstore.BlobstoreConfiguration
  browserUrl: string
  maximumMessageSizeBytes: int64
  scheduler: grpc.ClientConfiguration
  global: global.Configuration
  buildDirectories: []bb_worker.BuildDirectoryConfiguration
  filePool: filesystem.FilePoolConfiguration
  completedActionLoggers: []bb_worker.CompletedActionLoggingConfiguration
  outputUploadConcurrency: int64
  directoryCache: cas.CachingDirectoryFetcherConfiguration
  prefetching: bb_worker.PrefetchingConfiguration
  forceUploadTreesAndDirectories: bool
  inputDownloadConcurrency: int64
  httpExecutionTimeoutCompensators: []bb_worker.HttpExecutionTimeoutCompensator
  zstdPool: zstd.PoolConfiguration

bb_runner.ApplicationConfiguration
  buildDirectoryPath: string
  grpcServers: []grpc.ServerConfiguration
  cleanTemporaryDirectories: []string
  global: global.Configuration
  setTmpdirEnvironmentVariable: bool
  temporaryDirectoryInstaller: grpc.ClientConfiguration
  chrootIntoInputRoot: bool
  cleanProcessTable: bool
  readinessCheckingPathnames: []string
  runCommandsAs: credentials.UNIXCredentialsConfiguration
  symlinkTemporaryDirectories: []string
  runCommandCleaner: []string
  appleXcodeDeveloperDirectories: map<string,string>

bb_browser.ApplicationConfiguration
  blobstore: blobstore.BlobstoreConfiguration
  maximumMessageSizeBytes: int64
  httpServers: []http.server.Configuration
  routePrefix: string
  global: global.Configuration
  bbClientdInstanceNamePrefix: string
  initialSizeClassCache: blobstore.BlobAccessConfiguration
  fileSystemAccessCache: blobstore.BlobAccessConfiguration
  authorizer: auth.AuthorizerConfiguration
  requestMetadataLinksJmespathExpression: jmespath.Expression
  zstdPool: zstd.PoolConfiguration

grpc.ServerConfiguration
  listenAddresses: []string
  listenPaths: []string
  authenticationPolicy: grpc.AuthenticationPolicy
  maximumReceivedMessageSizeBytes: int64
  keepaliveEnforcementPolicy: grpc.ServerKeepaliveEnforcementPolicy
  healthCheckService: string
  initialWindowSizeBytes: int32
  initialConnWindowSizeBytes: int32
  tracing: map<string,grpc.TracingMethodConfiguration>
  keepaliveParameters: grpc.ServerKeepaliveParameters
  stopGracefully: bool
  tls: tls.ServerConfiguration (oneof transport_security)
  alts: google.protobuf.Empty (oneof transport_security)
  relays: []grpc.ServerRelayConfiguration

builder.SchedulerConfiguration
  endpoint: grpc.ClientConfiguration
  addInstanceNamePrefix: string

global.Configuration
  tracing: global.TracingConfiguration
  mutexProfileFraction: int32
  prometheusPushgateway: global.PrometheusPushgatewayConfiguration
  logPaths: []string
  diagnosticsHttpServer: global.DiagnosticsHTTPServerConfiguration
  setUmask: global.SetUmaskConfiguration
  grpcForwardAndReuseMetadata: []string
  grpcKubernetesResolvers: map<string,global.GRPCKubernetesResolver>
  setResourceLimits: map<string,global.SetResourceLimitConfiguration>

bb_storage.ScannableBlobAccessConfiguration
  backend: blobstore.BlobAccessConfiguration
  getAuthorizer: auth.AuthorizerConfiguration
  putAuthorizer: auth.AuthorizerConfiguration
  findMissingAuthorizer: auth.AuthorizerConfiguration

bb_storage.NonScannableBlobAccessConfiguration
  backend: blobstore.BlobAccessConfiguration
  getAuthorizer: auth.AuthorizerConfiguration
  putAuthorizer: auth.AuthorizerConfiguration

auth.AuthorizerConfiguration
  allow: google.protobuf.Empty (oneof policy)
  instanceNamePrefix: auth.InstanceNameAuthorizer (oneof policy)
  deny: google.protobuf.Empty (oneof policy)
  jmespathExpression: jmespath.Expression (oneof policy)
  remote: auth.RemoteAuthorizer (oneof policy)

zstd.PoolConfiguration
  maximumEncoders: int64
  maximumDecoders: int64
  encoderWindowSizeBytes: int32
  decoderWindowSizeBytes: int32
  encoderLevel: int32

blobstore.BlobAccessConfiguration
  readCaching: blobstore.ReadCachingBlobAccessConfiguration (oneof backend)
  grpc: blobstore.GrpcBlobAccessConfiguration (oneof backend)
  error: google.rpc.Status (oneof backend)
  sharding: blobstore.ShardingBlobAccessConfiguration (oneof backend)
  mirrored: blobstore.MirroredBlobAccessConfiguration (oneof backend)
  local: blobstore.LocalBlobAccessConfiguration (oneof backend)
  existenceCaching: blobstore.ExistenceCachingBlobAccessConfiguration (oneof backend)
  completenessChecking: blobstore.CompletenessCheckingBlobAccessConfiguration (oneof backend)
  readFallback: blobstore.ReadFallbackBlobAccessConfiguration (oneof backend)
  referenceExpanding: blobstore.ReferenceExpandingBlobAccessConfiguration (oneof backend)
  demultiplexing: blobstore.DemultiplexingBlobAccessConfiguration (oneof backend)
  hierarchicalInstanceNames: blobstore.BlobAccessConfiguration (oneof backend)
  actionResultExpiring: blobstore.ActionResultExpiringBlobAccessConfiguration (oneof backend)
  readCanarying: blobstore.ReadCanaryingBlobAccessConfiguration (oneof backend)
  zipReading: blobstore.ZIPBlobAccessConfiguration (oneof backend)
  zipWriting: blobstore.ZIPBlobAccessConfiguration (oneof backend)
  withLabels: blobstore.WithLabelsBlobAccessConfiguration (oneof backend)
  label: string (oneof backend)
  deadlineEnforcing: blobstore.DeadlineEnforcingBlobAccess (oneof backend)

bb_scheduler.PredeclaredPlatformQueueConfiguration
  instanceNamePrefix: string
  platform: build.bazel.remote.execution.v2.Platform
  sizeClasses: []uint32
  workerInvocationStickinessLimits: []google.protobuf.Duration
  maximumQueuedBackgroundLearningOperations: int32
  backgroundLearningOperationPriority: int32

scheduler.ActionRouterConfiguration
  simple: scheduler.SimpleActionRouterConfiguration (oneof kind)
  demultiplexing: scheduler.DemultiplexingActionRouterConfiguration (oneof kind)
  remote: scheduler.RemoteActionRouterConfiguration (oneof kind)

http.server.Configuration
  listenAddresses: []string
  authenticationPolicy: http.server.AuthenticationPolicy
  tls: tls.ServerConfiguration

blobstore.BlobstoreConfiguration
  contentAddressableStorage: blobstore.BlobAccessConfiguration
  actionCache: blobstore.BlobAccessConfiguration

grpc.ClientConfiguration
  address: string
  tls: tls.ClientConfiguration
  keepalive: grpc.ClientKeepaliveConfiguration
  addMetadata: []grpc.ClientConfiguration.HeaderValues
  addMetadataJmespathExpression: jmespath.Expression
  oauth2: http.client.OAuth2Configuration
  initialWindowSizeBytes: int32
  initialConnWindowSizeBytes: int32
  proxyUrl: string
  tracing: map<string,grpc.TracingMethodConfiguration>
  defaultServiceConfig: google.protobuf.Struct

bb_worker.BuildDirectoryConfiguration
  native: bb_worker.NativeBuildDirectoryConfiguration (oneof backend)
  virtual: bb_worker.VirtualBuildDirectoryConfiguration (oneof backend)
  runners: []bb_worker.RunnerConfiguration

filesystem.FilePoolConfiguration
  blockDevice: blockdevice.Configuration (oneof backend)

bb_worker.CompletedActionLoggingConfiguration
  client: grpc.ClientConfiguration
  maximumSendQueueSize: uint32
  addInstanceNamePrefix: string

cas.CachingDirectoryFetcherConfiguration
  maximumCount: int64
  maximumSizeBytes: int64
  cacheReplacementPolicy: enum eviction.CacheReplacementPolicy{UNKNOWN|FIRST_IN_FIRST_OUT|LEAST_RECENTLY_USED|RANDOM_REPLACEMENT}

bb_worker.PrefetchingConfiguration
  fileSystemAccessCache: blobstore.BlobAccessConfiguration
  bloomFilterBitsPerPath: uint32
  bloomFilterMaximumSizeBytes: uint32

bb_worker.HttpExecutionTimeoutCompensator
  httpClient: http.client.Configuration
  suspendUrl: string
  resumeUrl: string

credentials.UNIXCredentialsConfiguration
  userId: uint32
  groupId: uint32
  additionalGroupIds: []uint32

jmespath.Expression
  expression: string
  files: []jmespath.File
  testVectors: []jmespath.TestVector

grpc.AuthenticationPolicy
  allow: buildbarn.auth.AuthenticationMetadata (oneof policy)
  any: grpc.AnyAuthenticationPolicy (oneof policy)
  all: grpc.AllAuthenticationPolicy (oneof policy)
  deny: string (oneof policy)
  tlsClientCertificate: x509.ClientCertificateVerifierConfiguration (oneof policy)
  jwt: jwt.AuthorizationHeaderParserConfiguration (oneof policy)
  peerCredentialsJmespathExpression: jmespath.Expression (oneof policy)
  remote: grpc.RemoteAuthenticationPolicy (oneof policy)

grpc.ServerKeepaliveEnforcementPolicy
  minTime: google.protobuf.Duration
  permitWithoutStream: bool

grpc.TracingMethodConfiguration
  attributesFromFirstRequestMessage: []string
  attributesFromFirstResponseMessage: []string

grpc.ServerKeepaliveParameters
  maxConnectionIdle: google.protobuf.Duration
  maxConnectionAge: google.protobuf.Duration
  maxConnectionAgeGrace: google.protobuf.Duration
  time: google.protobuf.Duration
  timeout: google.protobuf.Duration

tls.ServerConfiguration
  cipherSuites: []string
  serverKeyPair: tls.X509KeyPair

grpc.ServerRelayConfiguration
  endpoint: grpc.ClientConfiguration
  services: []string

global.TracingConfiguration
  backends: []global.TracingConfiguration.Backend
  resourceAttributes: []opentelemetry.proto.common.v1.KeyValue
  sampler: global.TracingConfiguration.Sampler

global.PrometheusPushgatewayConfiguration
  url: string
  job: string
  grouping: map<string,string>
  pushInterval: google.protobuf.Duration
  httpClient: http.client.Configuration
  pushTimeout: google.protobuf.Duration
  additionalScrapeTargets: []global.PrometheusPushgatewayConfiguration.AdditionalScrapeTarget

global.DiagnosticsHTTPServerConfiguration
  httpServers: []http.server.Configuration
  enablePprof: bool
  enablePrometheus: bool
  enableActiveSpans: bool

global.SetUmaskConfiguration
  umask: uint32

global.GRPCKubernetesResolver
  apiServerHttpClient: http.client.Configuration
  apiServerUrl: string

global.SetResourceLimitConfiguration
  softLimit: google.protobuf.UInt64Value
  hardLimit: google.protobuf.UInt64Value

auth.InstanceNameAuthorizer
  allowedInstanceNamePrefixes: []string

auth.RemoteAuthorizer
  endpoint: grpc.ClientConfiguration
  scope: google.protobuf.Value
  maximumCacheSize: int32
  cacheReplacementPolicy: enum eviction.CacheReplacementPolicy{UNKNOWN|FIRST_IN_FIRST_OUT|LEAST_RECENTLY_USED|RANDOM_REPLACEMENT}

blobstore.ReadCachingBlobAccessConfiguration
  slow: blobstore.BlobAccessConfiguration
  fast: blobstore.BlobAccessConfiguration
  replicator: blobstore.BlobReplicatorConfiguration

blobstore.GrpcBlobAccessConfiguration
  client: grpc.ClientConfiguration
  enableCompression: bool

google.rpc.Status
  code: int32
  message: string
  details: []google.protobuf.Any

blobstore.ShardingBlobAccessConfiguration
  shards: map<string,blobstore.ShardingBlobAccessConfiguration.Shard>

blobstore.MirroredBlobAccessConfiguration
  backendA: blobstore.BlobAccessConfiguration
  backendB: blobstore.BlobAccessConfiguration
  replicatorAToB: blobstore.BlobReplicatorConfiguration
  replicatorBToA: blobstore.BlobReplicatorConfiguration

blobstore.LocalBlobAccessConfiguration
  keyLocationMapInMemory: blobstore.LocalBlobAccessConfiguration.KeyLocationMapInMemory (oneof key_location_map_backend)
  keyLocationMapOnBlockDevice: blockdevice.Configuration (oneof key_location_map_backend)
  keyLocationMapMaximumGetAttempts: uint32
  keyLocationMapMaximumPutAttempts: int64
  oldBlocks: int32
  currentBlocks: int32
  newBlocks: int32
  blocksInMemory: blobstore.LocalBlobAccessConfiguration.BlocksInMemory (oneof blocks_backend)
  blocksOnBlockDevice: blobstore.LocalBlobAccessConfiguration.BlocksOnBlockDevice (oneof blocks_backend)
  persistent: blobstore.LocalBlobAccessConfiguration.Persistent
  hierarchicalInstanceNames: bool

blobstore.ExistenceCachingBlobAccessConfiguration
  backend: blobstore.BlobAccessConfiguration
  existenceCache: digest.ExistenceCacheConfiguration

blobstore.CompletenessCheckingBlobAccessConfiguration
  backend: blobstore.BlobAccessConfiguration
  maximumTotalTreeSizeBytes: int64

blobstore.ReadFallbackBlobAccessConfiguration
  primary: blobstore.BlobAccessConfiguration
  secondary: blobstore.BlobAccessConfiguration
  replicator: blobstore.BlobReplicatorConfiguration

blobstore.ReferenceExpandingBlobAccessConfiguration
  indirectContentAddressableStorage: blobstore.BlobAccessConfiguration
  awsSession: cloud.aws.SessionConfiguration
  httpClient: http.client.Configuration
  gcpClientOptions: cloud.gcp.ClientOptionsConfiguration
  contentAddressableStorage: blobstore.BlobAccessConfiguration

blobstore.DemultiplexingBlobAccessConfiguration
  instanceNamePrefixes: map<string,blobstore.DemultiplexedBlobAccessConfiguration>

blobstore.ActionResultExpiringBlobAccessConfiguration
  backend: blobstore.BlobAccessConfiguration
  minimumValidity: google.protobuf.Duration
  maximumValidityJitter: google.protobuf.Duration
  minimumTimestamp: google.protobuf.Timestamp

blobstore.ReadCanaryingBlobAccessConfiguration
  source: blobstore.BlobAccessConfiguration
  replica: blobstore.BlobAccessConfiguration
  maximumCacheSize: int32
  maximumCacheDuration: google.protobuf.Duration

blobstore.ZIPBlobAccessConfiguration
  path: string
  dataIntegrityValidationCache: digest.ExistenceCacheConfiguration

blobstore.WithLabelsBlobAccessConfiguration
  backend: blobstore.BlobAccessConfiguration
  labels: map<string,blobstore.BlobAccessConfiguration>

blobstore.DeadlineEnforcingBlobAccess
  timeout: google.protobuf.Duration
  backend: blobstore.BlobAccessConfiguration

build.bazel.remote.execution.v2.Platform
  properties: []build.bazel.remote.execution.v2.Platform.Property

scheduler.SimpleActionRouterConfiguration
  platformKeyExtractor: scheduler.PlatformKeyExtractorConfiguration
  invocationKeyExtractors: []scheduler.InvocationKeyExtractorConfiguration
  initialSizeClassAnalyzer: scheduler.InitialSizeClassAnalyzerConfiguration

scheduler.DemultiplexingActionRouterConfiguration
  platformKeyExtractor: scheduler.PlatformKeyExtractorConfiguration
  backends: []scheduler.DemultiplexingActionRouterConfiguration.Backend
  defaultActionRouter: scheduler.ActionRouterConfiguration

scheduler.RemoteActionRouterConfiguration
  grpcClient: grpc.ClientConfiguration
  initialSizeClassAnalyzer: scheduler.InitialSizeClassAnalyzerConfiguration

http.server.AuthenticationPolicy
  allow: buildbarn.auth.AuthenticationMetadata (oneof policy)
  any: http.server.AnyAuthenticationPolicy (oneof policy)
  deny: string (oneof policy)
  jwt: jwt.AuthorizationHeaderParserConfiguration (oneof policy)
  oidc: http.server.OIDCAuthenticationPolicy (oneof policy)
  acceptHeader: http.server.AcceptHeaderAuthenticationPolicy (oneof policy)
  remote: grpc.RemoteAuthenticationPolicy (oneof policy)

tls.ClientConfiguration
  serverCertificateAuthorities: string
  cipherSuites: []string
  serverName: string
  clientKeyPair: tls.X509KeyPair

grpc.ClientKeepaliveConfiguration
  time: google.protobuf.Duration
  timeout: google.protobuf.Duration
  permitWithoutStream: bool

grpc.ClientConfiguration.HeaderValues
  header: string
  values: []string

http.client.OAuth2Configuration
  googleDefaultCredentials: google.protobuf.Empty (oneof credentials)
  serviceAccountKey: string (oneof credentials)
  clientCredentials: http.client.OAuth2ClientCredentials (oneof credentials)
  scopes: []string

bb_worker.NativeBuildDirectoryConfiguration
  buildDirectoryPath: string
  cacheDirectoryPath: string
  maximumCacheFileCount: uint64
  maximumCacheSizeBytes: int64
  cacheReplacementPolicy: enum eviction.CacheReplacementPolicy{UNKNOWN|FIRST_IN_FIRST_OUT|LEAST_RECENTLY_USED|RANDOM_REPLACEMENT}

bb_worker.VirtualBuildDirectoryConfiguration
  mount: filesystem.virtual.MountConfiguration
  maximumExecutionTimeoutCompensation: google.protobuf.Duration
  shuffleDirectoryListings: bool
  hiddenFilesPattern: string
  maximumWritableFileUploadDelay: google.protobuf.Duration
  caseInsensitive: bool

bb_worker.RunnerConfiguration
  endpoint: grpc.ClientConfiguration
  concurrency: uint64
  instanceNamePrefix: string
  platform: build.bazel.remote.execution.v2.Platform
  sizeClass: uint32
  maximumFilePoolFileCount: uint64
  maximumFilePoolSizeBytes: uint64
  workerId: map<string,string>
  inputRootCharacterDeviceNodes: []string
  costsPerSecond: map<string,buildbarn.resourceusage.MonetaryResourceUsage.Expense>
  environmentVariables: map<string,string>
  maximumConsecutiveTestInfrastructureFailures: uint32
  buildDirectoryOwnerUserId: uint32
  buildDirectoryOwnerGroupId: uint32

blockdevice.Configuration
  devicePath: string (oneof source)
  file: blockdevice.FileConfiguration (oneof source)
  writeConcurrencyLimit: int64

http.client.Configuration
  tls: tls.ClientConfiguration
  proxyUrl: string
  addHeaders: []http.client.Configuration.HeaderValues
  disableHttp2: bool
  oauth2: http.client.OAuth2Configuration

jmespath.File
  key: string
  path: string

jmespath.TestVector
  input: google.protobuf.Struct
  expectedOutput: google.protobuf.Value

buildbarn.auth.AuthenticationMetadata
  public: google.protobuf.Value
  tracingAttributes: []opentelemetry.proto.common.v1.KeyValue
  private: google.protobuf.Value

grpc.AnyAuthenticationPolicy
  policies: []grpc.AuthenticationPolicy

grpc.AllAuthenticationPolicy
  policies: []grpc.AuthenticationPolicy

x509.ClientCertificateVerifierConfiguration
  clientCertificateAuthorities: string
  validationJmespathExpression: jmespath.Expression
  metadataExtractionJmespathExpression: jmespath.Expression

jwt.AuthorizationHeaderParserConfiguration
  jwksInline: google.protobuf.Struct (oneof jwks)
  jwksFile: string (oneof jwks)
  maximumCacheSize: int32
  cacheReplacementPolicy: enum eviction.CacheReplacementPolicy{UNKNOWN|FIRST_IN_FIRST_OUT|LEAST_RECENTLY_USED|RANDOM_REPLACEMENT}
  claimsValidationJmespathExpression: jmespath.Expression
  metadataExtractionJmespathExpression: jmespath.Expression

grpc.RemoteAuthenticationPolicy
  headers: []string
  endpoint: grpc.ClientConfiguration
  scope: google.protobuf.Value
  maximumCacheSize: int32
  cacheReplacementPolicy: enum eviction.CacheReplacementPolicy{UNKNOWN|FIRST_IN_FIRST_OUT|LEAST_RECENTLY_USED|RANDOM_REPLACEMENT}

tls.X509KeyPair
  inline: tls.X509KeyPair.Inline (oneof key_pair)
  files: tls.X509KeyPair.Files (oneof key_pair)

global.TracingConfiguration.Backend
  jaegerCollectorSpanExporter: global.TracingConfiguration.Backend.JaegerCollectorSpanExporter (oneof span_exporter)
  otlpSpanExporter: grpc.ClientConfiguration (oneof span_exporter)
  simpleSpanProcessor: google.protobuf.Empty (oneof span_processor)
  batchSpanProcessor: global.TracingConfiguration.Backend.BatchSpanProcessor (oneof span_processor)

opentelemetry.proto.common.v1.KeyValue
  key: string
  value: opentelemetry.proto.common.v1.AnyValue
  keyStrindex: int32

global.TracingConfiguration.Sampler
  always: google.protobuf.Empty (oneof policy)
  never: google.protobuf.Empty (oneof policy)
  parentBased: global.TracingConfiguration.Sampler.ParentBased (oneof policy)
  traceIdRatioBased: double (oneof policy)
  maximumRate: global.TracingConfiguration.Sampler.MaximumRate (oneof policy)

global.PrometheusPushgatewayConfiguration.AdditionalScrapeTarget
  httpClient: http.client.Configuration
  url: string
  metricNamePattern: string

blobstore.BlobReplicatorConfiguration
  local: google.protobuf.Empty (oneof mode)
  remote: grpc.ClientConfiguration (oneof mode)
  queued: blobstore.QueuedBlobReplicatorConfiguration (oneof mode)
  noop: google.protobuf.Empty (oneof mode)
  deduplicating: blobstore.BlobReplicatorConfiguration (oneof mode)
  concurrencyLimiting: blobstore.ConcurrencyLimitingBlobReplicatorConfiguration (oneof mode)

blobstore.ShardingBlobAccessConfiguration.Shard
  backend: blobstore.BlobAccessConfiguration
  weight: uint32

blobstore.LocalBlobAccessConfiguration.KeyLocationMapInMemory
  entries: int64

blobstore.LocalBlobAccessConfiguration.BlocksInMemory
  blockSizeBytes: int64

blobstore.LocalBlobAccessConfiguration.BlocksOnBlockDevice
  source: blockdevice.Configuration
  spareBlocks: int32
  dataIntegrityValidationCache: digest.ExistenceCacheConfiguration

blobstore.LocalBlobAccessConfiguration.Persistent
  stateDirectoryPath: string
  minimumEpochInterval: google.protobuf.Duration

digest.ExistenceCacheConfiguration
  cacheSize: int64
  cacheDuration: google.protobuf.Duration
  cacheReplacementPolicy: enum eviction.CacheReplacementPolicy{UNKNOWN|FIRST_IN_FIRST_OUT|LEAST_RECENTLY_USED|RANDOM_REPLACEMENT}

cloud.aws.SessionConfiguration
  region: string
  staticCredentials: cloud.aws.StaticCredentials (oneof credentials)
  webIdentityRoleCredentials: cloud.aws.WebIdentityRoleCredentials (oneof credentials)
  httpClient: http.client.Configuration

cloud.gcp.ClientOptionsConfiguration

blobstore.DemultiplexedBlobAccessConfiguration
  backend: blobstore.BlobAccessConfiguration
  addInstanceNamePrefix: string

build.bazel.remote.execution.v2.Platform.Property
  name: string
  value: string

scheduler.PlatformKeyExtractorConfiguration
  action: google.protobuf.Empty (oneof kind)
  static: build.bazel.remote.execution.v2.Platform (oneof kind)

scheduler.InvocationKeyExtractorConfiguration
  toolInvocationId: google.protobuf.Empty (oneof kind)
  correlatedInvocationsId: google.protobuf.Empty (oneof kind)
  authenticationMetadata: google.protobuf.Empty (oneof kind)

scheduler.InitialSizeClassAnalyzerConfiguration
  defaultExecutionTimeout: google.protobuf.Duration
  maximumExecutionTimeout: google.protobuf.Duration
  feedbackDriven: scheduler.InitialSizeClassFeedbackDrivenAnalyzerConfiguration

scheduler.DemultiplexingActionRouterConfiguration.Backend
  instanceNamePrefix: string
  platform: build.bazel.remote.execution.v2.Platform
  actionRouter: scheduler.ActionRouterConfiguration

http.server.AnyAuthenticationPolicy
  policies: []http.server.AuthenticationPolicy

http.server.OIDCAuthenticationPolicy
  clientId: string
  clientSecret: string
  authorizationEndpointUrl: string
  tokenEndpointUrl: string
  userInfoEndpointUrl: string (oneof user_info_source)
  useIdTokenClaims: google.protobuf.Empty (oneof user_info_source)
  metadataExtractionJmespathExpression: jmespath.Expression
  redirectUrl: string
  scopes: []string
  cookieSeed: bytes
  httpClient: http.client.Configuration

http.server.AcceptHeaderAuthenticationPolicy
  mediaTypes: []string
  policy: http.server.AuthenticationPolicy

http.client.OAuth2ClientCredentials
  clientId: string
  clientSecret: string
  tokenEndpointUrl: string
  httpClient: http.client.Configuration

filesystem.virtual.MountConfiguration
  mountPath: string
  fuse: filesystem.virtual.FUSEMountConfiguration (oneof backend)
  nfsv4: filesystem.virtual.NFSv4MountConfiguration (oneof backend)
  winfsp: google.protobuf.Empty (oneof backend)

buildbarn.resourceusage.MonetaryResourceUsage.Expense
  currency: string
  cost: double

blockdevice.FileConfiguration
  path: string
  sizeBytes: int64

http.client.Configuration.HeaderValues
  header: string
  values: []string

tls.X509KeyPair.Inline
  certificate: string
  privateKey: string

tls.X509KeyPair.Files
  certificatePath: string
  privateKeyPath: string
  refreshInterval: google.protobuf.Duration

global.TracingConfiguration.Backend.JaegerCollectorSpanExporter
  endpoint: string
  httpClient: http.client.Configuration
  password: string
  username: string

global.TracingConfiguration.Backend.BatchSpanProcessor
  batchTimeout: google.protobuf.Duration
  blocking: bool
  exportTimeout: google.protobuf.Duration
  maxExportBatchSize: int64
  maxQueueSize: int64

opentelemetry.proto.common.v1.AnyValue
  stringValue: string (oneof value)
  boolValue: bool (oneof value)
  intValue: int64 (oneof value)
  doubleValue: double (oneof value)
  arrayValue: opentelemetry.proto.common.v1.ArrayValue (oneof value)
  kvlistValue: opentelemetry.proto.common.v1.KeyValueList (oneof value)
  bytesValue: bytes (oneof value)
  stringValueStrindex: int32 (oneof value)

global.TracingConfiguration.Sampler.ParentBased
  noParent: global.TracingConfiguration.Sampler
  localParentNotSampled: global.TracingConfiguration.Sampler
  localParentSampled: global.TracingConfiguration.Sampler
  remoteParentNotSampled: global.TracingConfiguration.Sampler
  remoteParentSampled: global.TracingConfiguration.Sampler

global.TracingConfiguration.Sampler.MaximumRate
  samplesPerEpoch: int64
  epochDuration: google.protobuf.Duration

blobstore.QueuedBlobReplicatorConfiguration
  base: blobstore.BlobReplicatorConfiguration
  existenceCache: digest.ExistenceCacheConfiguration

blobstore.ConcurrencyLimitingBlobReplicatorConfiguration
  base: blobstore.BlobReplicatorConfiguration
  maximumConcurrency: int64

cloud.aws.StaticCredentials
  accessKeyId: string
  secretAccessKey: string

cloud.aws.WebIdentityRoleCredentials
  roleArn: string
  tokenFile: string

scheduler.InitialSizeClassFeedbackDrivenAnalyzerConfiguration
  failureCacheDuration: google.protobuf.Duration
  historySize: int32
  pageRank: scheduler.InitialSizeClassPageRankStrategyCalculatorConfiguration

filesystem.virtual.FUSEMountConfiguration
  directoryEntryValidity: google.protobuf.Duration
  inodeAttributeValidity: google.protobuf.Duration
  allowOther: bool
  inHeaderAuthenticationMetadataJmespathExpression: jmespath.Expression
  linuxBackingDevInfoTunables: map<string,string>
  mountMethod: enum filesystem.virtual.FUSEMountConfiguration.MountMethod{FUSERMOUNT|DIRECT|DIRECT_AND_FUSERMOUNT}
  maximumBackgroundTasks: uint32

filesystem.virtual.NFSv4MountConfiguration
  darwin: filesystem.virtual.NFSv4DarwinMountConfiguration (oneof operating_system)
  linux: filesystem.virtual.NFSv4LinuxMountConfiguration (oneof operating_system)
  enforcedLeaseTime: google.protobuf.Duration
  announcedLeaseTime: google.protobuf.Duration
  systemAuthentication: filesystem.virtual.RPCv2SystemAuthenticationConfiguration

opentelemetry.proto.common.v1.ArrayValue
  values: []opentelemetry.proto.common.v1.AnyValue

opentelemetry.proto.common.v1.KeyValueList
  values: []opentelemetry.proto.common.v1.KeyValue

scheduler.InitialSizeClassPageRankStrategyCalculatorConfiguration
  acceptableExecutionTimeIncreaseExponent: double
  smallerSizeClassExecutionTimeoutMultiplier: double
  minimumExecutionTimeout: google.protobuf.Duration
  maximumConvergenceError: double

filesystem.virtual.NFSv4DarwinMountConfiguration
  socketPath: string
  accessCacheSize: uint32
  minorVersion: google.protobuf.UInt32Value

filesystem.virtual.NFSv4LinuxMountConfiguration
  mountOptions: []string

filesystem.virtual.RPCv2SystemAuthenticationConfiguration
  metadataJmespathExpression: jmespath.Expression
  maximumCacheSize: int32
  cacheReplacementPolicy: enum eviction.CacheReplacementPolicy{UNKNOWN|FIRST_IN_FIRST_OUT|LEAST_RECENTLY_USED|RANDOM_REPLACEMENT}
`;
